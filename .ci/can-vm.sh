#!/usr/bin/env bash
# A virtual machine whose kernel has CAN, for machines whose kernel has none. Needs neither root nor KVM once the
# packages below are there.
#
#     .ci/can-vm.sh prepare                 gets what is missing; root installs packages, others get a list
#     .ci/can-vm.sh run PROGRAM ARGUMENT... runs a program in it as root, with vcan0 up; gives its exit status back
#
# In the machine: vcan0 with loopback at the time of sending (echo=1), as on real hardware; can0 and can1, down, on one
# bus, behind an emulated SJA1000 controller each (DRAGOMAN_CAN_CONTROLLERS names them); candump, cansend, cangen, ip, tc, busybox. The program's environment
# are the variables RUST_*, CARGO_*, DRAGOMAN_* and PROPTEST_*; its working folder is empty. Besides:
#
#     DRAGOMAN_CAN_FILES    more files or folders to take along, separated by ':', found there at the same absolute paths
#     DRAGOMAN_CAN_TIMEOUT  seconds until the machine is ended (300)
#     DRAGOMAN_CAN_MEMORY   its memory in MB (1024)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$PWD/target/ci/can_vm
cd "$OLDPWD"
guest_tools=(candump cansend cangen cansequence ip tc)
modules=(net/can/can net/can/can-raw net/can/can-bcm drivers/net/can/dev/can-dev drivers/net/can/vcan
    drivers/net/can/sja1000/sja1000 drivers/net/can/sja1000/kvaser_pci net/sched/sch_tbf)
export PATH=$PATH:/usr/sbin:/sbin

prepare() {
    [ "$(uname -m)" = x86_64 ] || fail "the virtual machine is for x86_64"
    local packages=() missing=() tool
    for tool in qemu-system-x86_64:qemu-system-x86 candump:can-utils ip:iproute2 tc:iproute2 xz:xz-utils; do
        command -v "${tool%:*}" >/dev/null || { packages+=("${tool#*:}"); missing+=("${tool%:*}"); }
    done
    if [ ${#packages[@]} -gt 0 ]; then
        [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || fail "missing: ${missing[*]}; install ${packages[*]}"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -q && apt-get install -q -y --no-install-recommends "${packages[@]}"; } >&2
    fi
    # Two at a time would get into each other's way.
    mkdir -p "$(dirname "$folder")"
    exec 9>"$folder.lock"
    flock 9
    local ours
    ours=$(cksum <"${BASH_SOURCE[0]}")
    [ "$(cat "$folder/made_by" 2>/dev/null)" = "$ours" ] && return
    command -v apt-get >/dev/null || fail "the kernel comes from a Debian package, and there is no apt-get"

    rm -rf "$folder"
    mkdir -p "$folder/packages" "$folder/root"
    download linux-image "$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)"
    download busybox busybox-static
    unpack_kernel
    base >"$folder/base.cpio"
    rm -rf "$folder/packages" "$folder/linux-image" "$folder/root"
    echo "$ours" >"$folder/made_by"
}

fail() {
    echo "can-vm: $*" >&2
    exit 1
}

# download NAME PACKAGE: unpacks a package into the folder NAME without installing it.
download() {
    local apt=(apt-get -q -o APT::Sandbox::User=root download "$2")
    (
        cd "$folder/packages"
        # The list of packages may be missing, or name versions that are no longer there.
        if [ -z "$2" ] || ! "${apt[@]}" >&2; then
            [ "$(id -u)" = 0 ] || fail "apt-get cannot download ${2:-linux-image-amd64}; try apt-get update"
            apt-get update -q >&2
            [ -n "$2" ] && "${apt[@]}" >&2
        fi
    ) || fail "apt-get cannot download ${2:-linux-image-amd64}"
    dpkg-deb -x "$folder/packages/${2}_"*.deb "$folder/$1"
}

# The ELF file inside the compressed image has an entry of its own (PVH), which boots in half the time.
unpack_kernel() {
    local image offset
    image=$(echo "$folder/linux-image/boot/vmlinuz-"*)
    offset=$(LC_ALL=C grep -abom1 $'\xfd7zXZ' "$image" | head -1 | cut -d: -f1) || fail "$image is not compressed by xz"
    tail -c +$((offset + 1)) "$image" | xz -dc --single-stream >"$folder/vmlinux" 2>/dev/null || true
    [ -s "$folder/vmlinux" ] || fail "$image cannot be unpacked"
}

base() {
    local root=$folder/root tool module
    mkdir -p "$root"/{bin,busybox,dev,proc,sys,tmp,root,run,modules}
    cp "$folder/busybox/bin/busybox" "$root/bin/"
    # The shell of busybox would take its own ip before that of iproute2.
    take_along "$root" "$(command -v dash)"
    ln -s "$(command -v dash)" "$root/bin/sh"
    for tool in "${guest_tools[@]}"; do
        take_along "$root" "$(command -v "$tool")"
    done
    for module in "${modules[@]}"; do
        cp "$folder"/linux-image/lib/modules/*/kernel/"$module".ko "$root/modules/"
    done
    cat >"$root/init" <<'INIT'
#!/bin/sh
/bin/busybox --install -s /busybox
# What busybox has as well comes behind.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/busybox HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
exec </dev/null >/dev/ttyS0 2>&1
stty -F /dev/ttyS0 -opost
for module in can can-raw can-bcm can-dev; do insmod /modules/$module.ko; done
insmod /modules/vcan.ko echo=1
for module in sja1000 kvaser_pci sch_tbf; do insmod /modules/$module.ko; done
ip link set lo up multicast on
ip route add 224.0.0.0/4 dev lo
ip link add dev vcan0 mtu 72 type vcan && ip link set up dev vcan0
sh /job
echo "rc=$?" >/dev/ttyS1
# Waits until all output is out.
stty -F /dev/ttyS0 opost
stty -F /dev/ttyS1 opost
printf '\0' | dd of=/dev/port bs=1 seek=244 2>/dev/null
INIT
    chmod +x "$root/init"
    archive "$root"
}

# take_along ROOT PATH: copies a file or folder, and the libraries of a program, to the same places below ROOT.
take_along() {
    local root=$1 path=$2 library
    mkdir -p "$root$(dirname "$path")"
    cp -rL --no-clobber "$path" "$root$(dirname "$path")/"
    [ -f "$path" ] && [ -x "$path" ] || return 0
    # A script has none.
    { ldd "$path" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; } | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L --no-clobber "$library" "$root$library"
    done
}

archive() { (cd "$1" && find . -print0 | "$folder/busybox/bin/busybox" cpio -0 -o -H newc -R 0:0 2>/dev/null); }

# Both this script's child and the machine end with this script, however it ends.
run() {
    local program file
    program=$(readlink -f "$1")
    shift
    [ -e "$folder/made_by" ] || fail "not prepared"
    work=$(mktemp -d)
    status=0
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    take_along "$work/root" "$program"
    IFS=: read -ra files <<<"${DRAGOMAN_CAN_FILES:-}"
    for file in "${files[@]}"; do
        [ -e "$file" ] || fail "there is no $file"
        take_along "$work/root" "$(readlink -f "$file")"
    done
    mkdir -p "$work/root$PWD"
    # Without what only a debugger reads they are half as long to load.
    if command -v strip >/dev/null; then
        find "$work/root" -type f -perm /111 -exec strip --strip-debug {} + 2>/dev/null || true
    fi
    {
        while IFS= read -r name; do
            printf 'export %s=%q\n' "$name" "${!name}"
        done < <(compgen -e | grep -E '^(RUST|CARGO|DRAGOMAN|PROPTEST)_')
        echo "export DRAGOMAN_CAN_CONTROLLERS='can0 can1'"
        printf 'cd %q\nexec' "$PWD"
        printf ' %q' "$program" "$@"
        echo
    } >"$work/root/job"
    { cat "$folder/base.cpio" && archive "$work/root"; } >"$work/initrd.cpio"
    rm -rf "$work/root"

    # On a busy host the kernel may see no tick of the timer while it looks for one, and would give up: no_timer_check.
    # There are machines where /dev/kvm can be opened and guests die.
    local accel=tcg,thread=multi
    if [ -w /dev/kvm ] && { [ -e /sys/module/kvm_intel ] || [ -e /sys/module/kvm_amd ]; }; then accel=kvm; fi
    setpriv --pdeathsig TERM timeout --kill-after=5 "${DRAGOMAN_CAN_TIMEOUT:-300}" \
        qemu-system-x86_64 -M pc -accel "$accel" -cpu max -smp 2 -m "${DRAGOMAN_CAN_MEMORY:-1024}" \
        -nodefaults -no-reboot -display none \
        -kernel "$folder/vmlinux" -initrd "$work/initrd.cpio" \
        -append "console=ttyS0 quiet panic=-1 random.trust_cpu=on no_timer_check" \
        -chardev stdio,id=output,signal=off -serial chardev:output -serial "file:$work/status" \
        -object can-bus,id=canbus -device kvaser_pci,canbus=/objects/canbus -device kvaser_pci,canbus=/objects/canbus \
        -device isa-debug-exit,iobase=0xf4,iosize=1 </dev/null &
    wait $! || status=$?
    if ! [[ "$(tr -d '\r' <"$work/status" 2>/dev/null)" =~ ^rc=([0-9]+) ]]; then
        [ "$status" != 124 ] || fail "not done within ${DRAGOMAN_CAN_TIMEOUT:-300} s"
        fail "the virtual machine ended without a result (QEMU: $status)"
    fi
    return "${BASH_REMATCH[1]}"
}

case ${1:-} in
    prepare) prepare ;;
    run)
        shift
        run "$@"
        ;;
    *) fail "prepare, or run PROGRAM ARGUMENT..." ;;
esac

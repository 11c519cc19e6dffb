//! Compiles `peer.cpp` with the OMPL of the system.

fn main() {
    let folders = std::fs::read_dir("/usr/include").expect("a system with headers");
    let named = folders.flatten().find(|entry| entry.file_name().to_string_lossy().starts_with("ompl-"));
    let named = named.expect("OMPL is not installed: apt-get install libompl-dev").path();
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-O3")
        .define("NDEBUG", None)
        .include(named)
        .include("/usr/include/eigen3")
        .warnings(false)
        .file("peer.cpp")
        .compile("peer");
    println!("cargo:rustc-link-lib=ompl");
    println!("cargo:rerun-if-changed=peer.cpp");
}

//! Check sums by the names that descriptions give them.

use crc::{Crc, Table};

/// A check sum over bytes.
#[derive(Clone)]
pub enum Checksum {
    /// The sum of all bytes, or what makes that sum 0.
    Sum {
        /// With the check sum all bytes add up to 0.
        is_negated: bool,
    },
    /// Exclusive or of all bytes.
    Xor,
    /// Sum of the words of two bytes, the first one the higher; a byte that is left over is combined by exclusive or (ARCOS of
    /// ActivMedia's robots).
    Words,
    #[allow(missing_docs, reason = "the names are those of the catalogue")]
    Crc8(Box<Crc<u8, Table<1>>>),
    #[allow(missing_docs, reason = "the names are those of the catalogue")]
    Crc16(Box<Crc<u16, Table<1>>>),
    #[allow(missing_docs, reason = "the names are those of the catalogue")]
    Crc32(Box<Crc<u32, Table<1>>>),
}

/// Parameters of a CRC, as the catalogue has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrcParameters {
    /// Bits.
    pub width: u8,
    /// The polynomial, without its highest term.
    pub poly: u32,
    /// The value before the first byte.
    pub init: u32,
    /// Whether the lowest bit of a byte comes first.
    pub refin: bool,
    /// Whether the bits of the result are reversed.
    pub refout: bool,
    /// What the result is combined with by exclusive or.
    pub xorout: u32,
}

/// Those that are not in the catalogue.
const SUMS: [(&str, Checksum); 4] = [
    ("sum", Checksum::Sum { is_negated: false }),
    ("sum to zero", Checksum::Sum { is_negated: true }),
    ("xor", Checksum::Xor),
    ("words", Checksum::Words),
];

/// Names that others use, and what is meant by them. Letters, digits and nothing else are compared.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (
        &["CRC-16/CCITT", "CRC-CCITT", "CCITT", "CRC-16-CCITT"],
        "is the name of several: CRC-16/IBM-3740 (begins with 0xFFFF, often called CCITT-FALSE), CRC-16/XMODEM (begins with 0), \
         CRC-16/KERMIT (begins with 0, lowest bit first), CRC-16/IBM-SDLC (that of X.25 and HDLC). Take the one whose check value, \
         that of the characters 123456789, the manual has: 29B1, 31C3, 2189, 906E",
    ),
    (&["CRC-16/CCITT-FALSE", "CCITT-FALSE", "CRC-16/AUTOSAR"], "is called CRC-16/IBM-3740 here"),
    (&["CRC-16/X-25", "X.25", "CRC-16/X25", "FCS-16", "CRC-16/HDLC"], "is called CRC-16/IBM-SDLC here"),
    (&["CRC-16/CCITT-TRUE", "CRC-16/BLUETOOTH"], "is called CRC-16/KERMIT here"),
    (&["CRC-16/ACORN", "CRC-16/LTE", "CRC-16/V-41-MSB", "ZMODEM"], "is called CRC-16/XMODEM here"),
    (&["MODBUS", "CRC-MODBUS"], "is called CRC-16/MODBUS here"),
    (
        &["CRC-16", "CRC16", "CRC-16/IBM", "CRC-16/ANSI"],
        "is the name of several: most often CRC-16/ARC or CRC-16/MODBUS is meant. Take the one whose check value, that of the \
         characters 123456789, the manual has: BB3D, 4B37",
    ),
    (
        &["CRC-32", "CRC32", "CRC-32/ADCCP", "CRC-32/PKZIP", "CRC-32/ETHERNET"],
        "is called CRC-32/ISO-HDLC here",
    ),
    (&["CRC-32C", "CRC-32/CASTAGNOLI"], "is called CRC-32/ISCSI here"),
    (
        &["CRC-8", "CRC8", "CRC"],
        "is the name of several: `dragoman bridge checksums` lists them with their check values",
    ),
    (&["CRC-8/MAXIM", "DOW-CRC", "CRC-8/DALLAS"], "is called CRC-8/MAXIM-DOW here"),
    (&["LRC"], "is called sum to zero here, if it makes the sum of all bytes 0, as in Modbus ASCII; or xor"),
    (&["BCC", "NMEA", "exclusive or"], "is called xor here"),
    (&["checksum", "sum8", "sum16", "add"], "is called sum here"),
];

macro_rules! catalogue {
    ($($variant:ident $number:ty: $($name:ident)*;)*) => {
        /// The algorithm with this name, which is written as constants are.
        fn crc(wanted: &str) -> Option<Checksum> {
            Some(match wanted {
                $($(stringify!($name) => Checksum::$variant(Box::new(Crc::<$number, Table<1>>::new(&crc::$name))),)*)*
                _ => return None,
            })
        }

        const CATALOGUE: &[&str] = &[$($(stringify!($name),)*)*];
    };
}

catalogue! {
    Crc8 u8: CRC_8_AUTOSAR CRC_8_BLUETOOTH CRC_8_CDMA2000 CRC_8_DARC CRC_8_DVB_S2 CRC_8_GSM_A CRC_8_GSM_B CRC_8_HITAG CRC_8_I_432_1 CRC_8_I_CODE CRC_8_LTE CRC_8_MAXIM_DOW CRC_8_MIFARE_MAD CRC_8_NRSC_5 CRC_8_OPENSAFETY CRC_8_ROHC CRC_8_SAE_J1850 CRC_8_SMBUS CRC_8_TECH_3250 CRC_8_WCDMA ;
    Crc16 u16: CRC_16_ARC CRC_16_CDMA2000 CRC_16_CMS CRC_16_DDS_110 CRC_16_DECT_R CRC_16_DECT_X CRC_16_DNP CRC_16_EN_13757 CRC_16_GENIBUS CRC_16_GSM CRC_16_IBM_3740 CRC_16_IBM_SDLC CRC_16_ISO_IEC_14443_3_A CRC_16_KERMIT CRC_16_LJ1200 CRC_16_M17 CRC_16_MAXIM_DOW CRC_16_MCRF4XX CRC_16_MODBUS CRC_16_NRSC_5 CRC_16_OPENSAFETY_A CRC_16_OPENSAFETY_B CRC_16_PROFIBUS CRC_16_RIELLO CRC_16_SPI_FUJITSU CRC_16_T10_DIF CRC_16_TELEDISK CRC_16_TMS37157 CRC_16_UMTS CRC_16_USB CRC_16_XMODEM ;
    Crc32 u32: CRC_32_AIXM CRC_32_AUTOSAR CRC_32_BASE91_D CRC_32_BZIP2 CRC_32_CD_ROM_EDC CRC_32_CKSUM CRC_32_ISCSI CRC_32_ISO_HDLC CRC_32_JAMCRC CRC_32_MEF CRC_32_MPEG_2 CRC_32_XFER ;
}

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checksum")
    }
}

impl Checksum {
    /// `sum`, `sum to zero`, `xor`, `words`, or a name of the catalogue of parametrised CRC algorithms, such as
    /// `CRC-16/MODBUS`.
    pub fn named(name: &str) -> Option<Self> {
        let sum = SUMS.into_iter().find(|(sum, _)| *sum == name).map(|(_, sum)| sum);
        sum.or_else(|| crc(&name.to_ascii_uppercase().replace(['-', '/', ' '], "_")))
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = String> {
        let sums = SUMS.into_iter().map(|(name, _)| name.to_owned());
        let crcs =
            CATALOGUE.iter().map(|name| name.replacen('_', "-", 1).replacen('_', "/", 1).replace('_', "-"));
        sums.chain(crcs)
    }

    /// Why a name is not one of a check sum: what is meant by it elsewhere, or the nearest name.
    pub fn unknown(name: &str) -> String {
        let letters = |name: &str| -> String {
            name.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|letter| letter.to_ascii_lowercase())
                .collect()
        };
        let wanted = letters(name);
        let other = OTHER_NAMES.iter().find(|(names, _)| names.iter().any(|one| letters(one) == wanted));
        if let Some((_, meaning)) = other {
            return format!("'{}' {meaning}", dragoman_text::excerpt(name));
        }
        let names: Vec<String> = Self::names().collect();
        let hint = match dragoman_text::nearest(name, names.iter().map(String::as_str)) {
            Some(nearest) => format!("; did you mean '{nearest}'?"),
            None => "; `dragoman bridge checksums` lists them".to_owned(),
        };
        format!("'{}' is not a known check sum{hint}", dragoman_text::excerpt(name))
    }

    /// Parameters, if it is a CRC.
    pub fn parameters(&self) -> Option<CrcParameters> {
        macro_rules! of {
            ($crc:expr) => {{
                let one = $crc.algorithm;
                Some(CrcParameters {
                    width: one.width,
                    poly: one.poly.into(),
                    init: one.init.into(),
                    refin: one.refin,
                    refout: one.refout,
                    xorout: one.xorout.into(),
                })
            }};
        }
        match self {
            Self::Crc8(crc) => of!(crc),
            Self::Crc16(crc) => of!(crc),
            Self::Crc32(crc) => of!(crc),
            Self::Sum { .. } | Self::Xor | Self::Words => None,
        }
    }

    /// The check sum of bytes; a field of fewer bits has its lowest ones.
    pub fn of(&self, bytes: &[u8]) -> u64 {
        let sum = || bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_add((*byte).into()));
        match self {
            Self::Sum { is_negated: false } => sum(),
            Self::Sum { is_negated: true } => sum().wrapping_neg(),
            Self::Xor => bytes.iter().fold(0, |sum, byte| sum ^ byte).into(),
            Self::Words => {
                let (words, rest) = bytes.as_chunks();
                let sum = words.iter().fold(0_u16, |sum, word| sum.wrapping_add(u16::from_be_bytes(*word)));
                rest.iter().fold(sum, |sum, byte| sum ^ u16::from(*byte)).into()
            }
            Self::Crc8(crc) => crc.checksum(bytes).into(),
            Self::Crc16(crc) => crc.checksum(bytes).into(),
            Self::Crc32(crc) => crc.checksum(bytes).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values_are_those_of_the_catalogue() {
        for (name, value) in [
            ("CRC-8/SMBUS", 0xf4),
            ("CRC-8/SAE-J1850", 0x4b),
            ("CRC-8/MAXIM-DOW", 0xa1),
            ("CRC-16/MODBUS", 0x4b37),
            ("CRC-16/XMODEM", 0x31c3),
            ("CRC-16/IBM-3740", 0x29b1),
            ("CRC-16/KERMIT", 0x2189),
            ("CRC-32/ISO-HDLC", 0xcbf4_3926),
            ("CRC-32/ISCSI", 0xe306_9283),
            ("sum", 477),
            ("xor", 0x31),
        ] {
            assert_eq!(Checksum::named(name).unwrap().of(b"123456789"), value, "{name}");
        }
        assert_eq!(Checksum::named("sum to zero").unwrap().of(&[19, 5, 29, 2, 25, 13, 0]) & 0xff, 163);
        assert_eq!(Checksum::named("words").unwrap().of(&[0x04]), 0x04);
        assert_eq!(Checksum::named("words").unwrap().of(&[0x0b, 0x3b, 0x2c]), 0x0b17);
    }

    #[test]
    fn names_of_others_are_explained() {
        for (name, meaning) in [
            ("CRC-16/CCITT", "'CRC-16/CCITT' is the name of several: CRC-16/IBM-3740 (begins with 0xFFFF"),
            ("crc ccitt", "'crc ccitt' is the name of several: CRC-16/IBM-3740"),
            ("X.25", "'X.25' is called CRC-16/IBM-SDLC here"),
            ("CRC-16/MODBSU", "'CRC-16/MODBSU' is not a known check sum; did you mean 'CRC-16/MODBUS'?"),
            ("parity", "'parity' is not a known check sum; `dragoman bridge checksums` lists them"),
        ] {
            assert!(Checksum::unknown(name).starts_with(meaning), "{}", Checksum::unknown(name));
        }
        let known: Vec<String> = Checksum::names().collect();
        for (names, meaning) in OTHER_NAMES {
            for name in *names {
                assert!(Checksum::named(name).is_none(), "{name}");
            }
            // What they are called here is a name here.
            for word in meaning.split([' ', ',', ':']).filter(|word| word.starts_with("CRC")) {
                assert!(known.iter().any(|name| name == word), "{word}");
            }
        }
        for (name, value) in [
            ("CRC-16/IBM-3740", 0x29B1),
            ("CRC-16/XMODEM", 0x31C3),
            ("CRC-16/KERMIT", 0x2189),
            ("CRC-16/IBM-SDLC", 0x906E),
            ("CRC-16/ARC", 0xBB3D),
            ("CRC-16/MODBUS", 0x4B37),
        ] {
            assert_eq!(Checksum::named(name).unwrap().of(b"123456789"), value, "{name}");
        }
    }

    #[test]
    fn every_name_is_known_and_no_other() {
        assert!(Checksum::names().count() > 60);
        for name in Checksum::names() {
            assert!(Checksum::named(&name).is_some(), "{name}");
        }
        for name in ["", "crc", "CRC-16", "CRC-16/MODBUS-2", "Sum"] {
            assert!(Checksum::named(name).is_none(), "{name}");
        }
    }
}

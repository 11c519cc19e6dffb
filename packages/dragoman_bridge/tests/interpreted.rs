//! The codec of `dragoman_protocol`, which reads descriptions at run time, against the compiled one that is made of the same
//! description.

use dragoman_bridge::arm31::wire as arm31;
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};
use proptest::prelude::*;

/// What the interpreter makes of a client's frame; `None`: it is refused.
fn again(codec: &Codec, frame: &[u8]) -> Option<Vec<u8>> {
    let mut values = Values::default();
    let message = codec.decode(frame, Side::Client, None, &mut values).ok()?;
    let mut bytes = Vec::new();
    codec.encode(message, &mut values, &mut bytes).unwrap();
    Some(bytes)
}

fn letters() -> impl Strategy<Value = [u8; 2]> {
    let known: Vec<_> = arm31::Command::all().map(|command| command.letters().0).collect();
    prop_oneof![9 => proptest::sample::select(known), 1 => any::<[u8; 2]>()]
}

proptest! {
    #[test]
    fn datagrams_of_arms(letters in letters(), mut data in proptest::collection::vec(any::<u8>(), 26..31)) {
        let codec = Codec::new(Protocol::read(protocols::ARM31).unwrap()).unwrap();
        // A NaN may become a quiet one.
        for value in data.chunks_exact_mut(4) {
            if f32::from_le_bytes((&*value).try_into().unwrap()).is_nan() {
                value[3] = 0;
            }
        }
        let bytes = [&letters[..], &data].concat();
        let compiled = arm31::Request::decode(&bytes).ok().map(|request| request.encode().bytes().to_vec());
        prop_assert_eq!(again(&codec, &bytes), compiled);
    }
}

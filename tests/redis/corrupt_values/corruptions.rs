//! Corrupt values: strings, MessagePack values and other types, none of which is a valid state.

use tollgate::{Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket};

use super::tiers::quota;

/// Strings that are not a valid state of any algorithm. MessagePack decodes a single letter as a number.
const STRINGS: &str = "|garbage|a|ab|abc|abcd|1|1 1|1 1 1|15 5|\x01\x01\x01|\x01\x01|été|Приве́т|日本";

/// Packs ARGV[2] and following, the first encoded as in a state, without the last ARGV[1] bytes.
const PACK: &str = "
    local values = {}
    for i = 2, #ARGV do
      values[i - 1] = loadstring('return ' .. ARGV[i])()
    end
    values[1] = type(values[1]) == 'number' and -1 - values[1] or values[1]
    local packed = cmsgpack.pack(unpack(values, 1, #ARGV - 1))
    redis.call('SET', KEYS[1], packed:sub(1, #packed - ARGV[1]))";

/// Values that are not a valid state of any algorithm.
const VALUES: &str = "5|-1 5 5|-5 5 5|-5 5|5.5 5 5|5 5.5 5|5 5 5.5|5.5 5|5 5.5|0/0 5 5|5 0/0 5|5 5 0/0|0/0 5|5 0/0|\
    1/0 5 5|5 1/0 5|5 5 1/0|1/0 5|5 1/0|5 -5 5|5 5 -5|5 -5|'5' 5 5|5 '5' 5|5 5 '5'|'5' 5|5 '5'|{} 5 5|5 {} 5|5 5 {}|{} 5|\
    5 {}|true 5 5|5 true 5|5 nil 5|nil 5 5|5 true|nil 5|{5,5,5}|{5,5}|1 2 3 4 5 6 7 8 9";

/// Values that are not a valid state of these algorithms, though perhaps of others.
const NO_BUCKET: &str =
    "5 5|5 5 5 5|0 100 5|100 0 5|9007199254740996 100 1|100 9007199254740996 1|100 100 9007199254740996";
const NO_WINDOW: &str = "5 5 5|0 0|0 9007199254740996|9007199254740996 1";
const NO_COUNTER: &str = "0 0|0 0 1|0 1 1 1 1 1 1 1|0 9007199254740996|0 1 9007199254740996|9007199254740996 1|9007199254740991 1|\
    45035996273705 1|0 1 0.5 0.5";

/// Commands that store another type than a string, or for a log than a list. KEY is the key.
const TYPES: &str = "RPUSH KEY 1|HSET KEY 1 1|SADD KEY 1|ZADD KEY 1 1|XADD KEY * 1 1";

/// Commands that store an invalid log at NOW. A log is not read whole: the script reads the newest entry and those that may
/// have expired.
const NO_LOG: &str = "SET KEY 15|RPUSH KEY garbage|RPUSH KEY 15 16 garbage|RPUSH KEY garbage 15 16|RPUSH KEY -1 15 16|\
    RPUSH KEY 15 16 99999999999999999999";

/// Every algorithm, with the commands that corrupt its keys.
pub(crate) fn cases() -> Vec<(AnyAlgorithm, Vec<Vec<String>>)> {
    let quota = quota(10);
    let strings = |algorithm: AnyAlgorithm, more: &str| {
        let strings = STRINGS.split('|').map(set);
        let packed = VALUES.split('|').chain(more.split('|')).map(|values| pack(values, 0));
        let truncated = ["1000 1000 1000", "0 1000"].map(|values| pack(values, 1));
        let commands = strings.chain(packed).chain(truncated);
        (algorithm, commands.chain(TYPES.split('|').map(arguments)).collect())
    };
    let log = TYPES.split('|').skip(1).chain(NO_LOG.split('|'));
    vec![
        strings(TokenBucket::new(quota).to_any(), NO_BUCKET),
        strings(LeakyBucket::new(quota).to_any(), NO_BUCKET),
        strings(LeakyBucket::new(quota).policing().to_any(), NO_BUCKET),
        strings(FixedWindow::new(quota).to_any(), NO_WINDOW),
        strings(FixedWindow::new(quota).anchored().to_any(), NO_WINDOW),
        strings(SlidingCounter::new(quota).to_any(), NO_COUNTER),
        strings(SlidingCounter::new(quota).sub_windows(5).to_any(), NO_COUNTER),
        (SlidingLog::new(quota).to_any(), log.map(arguments).collect()),
    ]
}

fn set(text: &str) -> Vec<String> {
    ["SET", "KEY", text].map(str::to_owned).to_vec()
}

/// The command that stores these packed values without the last bytes.
fn pack(values: &str, truncate: usize) -> Vec<String> {
    let mut command = ["EVAL", PACK, "1", "KEY", &truncate.to_string()]
        .map(str::to_owned)
        .to_vec();
    command.extend(values.split(' ').map(str::to_owned));
    command
}

pub(crate) fn arguments(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

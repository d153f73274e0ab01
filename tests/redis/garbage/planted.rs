//! What is planted under keys: strings, packed values, and other types, none of which is a state.

use tollgate::{Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, TokenBucket};

use super::tiers::quota;

/// Strings that are no state of any algorithm, of one to several letters, which alone would be numbers to MessagePack.
const STRINGS: &str = "|garbage|a|ab|abc|abcd|1|1 1|1 1 1|15 5|\x01\x01\x01|\x01\x01|été|Приве́т|日本";

/// Packs values, the first like that of a state, and leaves out the last bytes, as many as it is told.
const PACK: &str = "
    local values = {}
    for i = 2, #ARGV do
      values[i - 1] = loadstring('return ' .. ARGV[i])()
    end
    values[1] = type(values[1]) == 'number' and -1 - values[1] or values[1]
    local packed = cmsgpack.pack(unpack(values, 1, #ARGV - 1))
    redis.call('SET', KEYS[1], packed:sub(1, #packed - ARGV[1]))";

/// Values that are no state of any algorithm.
const VALUES: &str = "5|-1 5 5|-5 5 5|-5 5|5.5 5 5|5 5.5 5|5 5 5.5|5.5 5|5 5.5|0/0 5 5|5 0/0 5|5 5 0/0|0/0 5|5 0/0|\
    1/0 5 5|5 1/0 5|5 5 1/0|1/0 5|5 1/0|5 -5 5|5 5 -5|5 -5|'5' 5 5|5 '5' 5|5 5 '5'|'5' 5|5 '5'|{} 5 5|5 {} 5|5 5 {}|{} 5|\
    5 {}|true 5 5|5 true 5|5 nil 5|nil 5 5|5 true|nil 5|{5,5,5}|{5,5}|1 2 3 4 5 6 7 8 9";

/// Values that are no state of these algorithms, though perhaps of others.
const NO_BUCKET: &str =
    "5 5|5 5 5 5|0 100 5|100 0 5|9007199254740996 100 1|100 9007199254740996 1|100 100 9007199254740996";
const NO_WINDOW: &str = "5 5 5|0 0|0 9007199254740996|9007199254740996 1";
const NO_COUNTER: &str =
    "0 0|0 0 1|0 1 1 1 1 1 1 1|0 9007199254740996|0 1 9007199254740996|9007199254740996 1|0 1 0.5 0.5";

/// Values of another type than string, and for a log than list. KEY stands for the key.
const TYPES: &str = "RPUSH KEY 1|HSET KEY 1 1|SADD KEY 1|ZADD KEY 1 1|XADD KEY * 1 1";

/// What is no log at NOW. A log is not read whole: an entry is looked at when it is the newest, or may have lapsed.
const NO_LOG: &str = "SET KEY 15|RPUSH KEY garbage|RPUSH KEY 15 16 garbage|RPUSH KEY garbage 15 16|RPUSH KEY -1 15 16|\
    RPUSH KEY 15 16 99999999999999999999";

/// Every algorithm, with the commands that put garbage under its keys.
pub(crate) fn cases() -> Vec<(Rule, Vec<Vec<String>>)> {
    let quota = quota(10);
    let strings = |rule: Rule, more: &str| {
        let strings = STRINGS.split('|').map(set);
        let packed = VALUES.split('|').chain(more.split('|')).map(|values| pack(values, 0));
        let cut_off = ["1000 1000 1000", "0 1000"].map(|values| pack(values, 1));
        let garbage = strings.chain(packed).chain(cut_off);
        (rule, garbage.chain(TYPES.split('|').map(words)).collect())
    };
    let log = TYPES.split('|').skip(1).chain(NO_LOG.split('|'));
    vec![
        strings(TokenBucket::new(quota).rule(), NO_BUCKET),
        strings(LeakyBucket::new(quota).rule(), NO_BUCKET),
        strings(LeakyBucket::new(quota).policing().rule(), NO_BUCKET),
        strings(FixedWindow::new(quota).rule(), NO_WINDOW),
        strings(FixedWindow::new(quota).anchored().rule(), NO_WINDOW),
        strings(SlidingCounter::new(quota).rule(), NO_COUNTER),
        strings(SlidingCounter::new(quota).buckets(5).rule(), NO_COUNTER),
        (SlidingLog::new(quota).rule(), log.map(words).collect()),
    ]
}

fn set(text: &str) -> Vec<String> {
    ["SET", "KEY", text].map(str::to_owned).to_vec()
}

/// The command that stores these values, packed, without so many bytes at their end.
fn pack(values: &str, cut_off: usize) -> Vec<String> {
    let mut command = ["EVAL", PACK, "1", "KEY", &cut_off.to_string()]
        .map(str::to_owned)
        .to_vec();
    command.extend(values.split(' ').map(str::to_owned));
    command
}

pub(crate) fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

//! The command line.

pub const HELP: &str = include_str!("../help.txt");

#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    Measure {
        filters: Vec<String>,
    },
    Tables,
    /// Internal: the process of a node.
    Node {
        limiter: String,
        redis: String,
    },
}

pub fn parse(args: impl Iterator<Item = String>) -> Result<Command, String> {
    let args: Vec<String> = args.collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return Ok(Command::Help);
    }
    if let [node, limiter, redis] = args.as_slice()
        && node == "node"
    {
        let [limiter, redis] = [limiter, redis].map(String::clone);
        return Ok(Command::Node { limiter, redis });
    }
    if args == ["--tables"] {
        return Ok(Command::Tables);
    }
    match args.iter().find(|arg| arg.starts_with('-')) {
        Some(unknown) => Err(format!("unknown option {unknown}; --help lists the options")),
        None => Ok(Command::Measure { filters: args }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Command, String> {
        parse(args.iter().map(|&arg| arg.to_owned()))
    }

    #[test]
    fn commands_are_parsed() {
        let all = Command::Measure { filters: Vec::new() };
        assert_eq!(parsed(&[]), Ok(all));
        let filters = vec!["edge/".to_owned()];
        assert_eq!(parsed(&["edge/"]), Ok(Command::Measure { filters }));
        assert_eq!(parsed(&["--tables"]), Ok(Command::Tables));
        assert_eq!(parsed(&["edge/", "--help"]), Ok(Command::Help));
        assert!(parsed(&["--quick"]).is_err());
    }
}

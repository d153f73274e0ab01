//! The top-level command line. Each subcommand's arguments are in its own module.

use std::env;

use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, builder::styling, error::ErrorKind};
use tracing::level_filters::LevelFilter;

use crate::{check, common::output, gateway, generate, keys, playground, service, simulate};

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Green.on_default().bold())
    .usage(styling::AnsiColor::Green.on_default().bold())
    .literal(styling::AnsiColor::Cyan.on_default().bold())
    .placeholder(styling::AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0  success; gateway, service and playground: ended by a signal
  1  failure, or check found an error
  2  invalid arguments
  130, 143, 129  simulate was ended by Ctrl-C, SIGTERM or SIGHUP

Results and the banner of a server go to standard output; errors, logs and
progress go to standard error. NO_COLOR disables colors.";

/// Exact rate limits in front of any service, and tools for operating them.
#[derive(Parser)]
#[command(name = "tollgate", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Gateway(Box<gateway::GatewayArgs>),
    Service(Box<service::ServiceArgs>),
    Simulate(simulate::SimulateArgs),
    Playground(playground::PlaygroundArgs),
    Check(check::CheckArgs),
    /// Show the state of one key of a limit, without charging it
    Peek(keys::KeyArgs),
    /// Reset one key of a limit to its full quota
    Reset(keys::KeyArgs),
    Completions(generate::CompletionsArgs),
    Man(generate::ManArgs),
}

impl Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Gateway(_) => "gateway",
            Self::Service(_) => "service",
            Self::Simulate(_) => "simulate",
            Self::Playground(_) => "playground",
            Self::Check(_) => "check",
            Self::Peek(_) => "peek",
            Self::Reset(_) => "reset",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

/// Options for what a subcommand prints besides its result.
#[derive(Args, Clone, Copy)]
pub(crate) struct OutputArgs {
    /// Print results and errors only: no banner, no progress, no summary
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Log at debug level, to standard error
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Output")]
    pub(crate) verbose: bool,
    /// When to use colors
    // Cli::parse_args reads this before clap parses anything.
    #[arg(long = "color", global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = "Output")]
    _color: ColorChoice,
}

impl Cli {
    /// Parses the command line, or exits with help or an error.
    pub(crate) fn parse_args() -> Self {
        // Clap prints help and errors before it has parsed `--color`.
        // Files may have names that are not valid UTF-8.
        let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let choice = color_choice(arguments);
        match choice {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        let matches = Self::command().color(choice).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

fn color_choice(mut arguments: impl Iterator<Item = String>) -> ColorChoice {
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some(("--color", value)) => Some(value.to_owned()),
            None if argument == "--color" => arguments.next(),
            _ => continue,
        };
        return value.and_then(|value| value.parse().ok()).unwrap_or_default();
    }
    ColorChoice::Auto
}

impl OutputArgs {
    /// Starts logging at `level`, unless `--quiet` or `--verbose` overrides it.
    pub(crate) fn start_log(self, level: LevelFilter) {
        output::start_log(match (self.quiet, self.verbose) {
            // Warnings report outages, so `--quiet` keeps them.
            (true, _) => LevelFilter::WARN.min(level),
            (_, true) => LevelFilter::DEBUG,
            _ => level,
        });
    }
}

/// An argument error that clap does not detect itself, in clap's format.
pub(crate) fn usage_error(subcommand: &str, message: String) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    match cli.find_subcommand_mut(subcommand) {
        Some(subcommand) => subcommand.error(ErrorKind::ValueValidation, message),
        None => cli.error(ErrorKind::ValueValidation, message),
    }
}

//! `tollgate completions` and `tollgate man`: shell completions and man pages.

use std::io::{Write, stdout};

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::{args::Cli, common::output::Failure};

/// Print shell completions
///
/// For bash: tollgate completions bash > ~/.local/share/bash-completion/completions/tollgate
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

/// Print the man page of the program or of one subcommand
///
/// To read it: tollgate man gateway | man -l -
#[derive(Args)]
pub(crate) struct ManArgs {
    /// The subcommand whose man page to print
    subcommand: Option<String>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tollgate", &mut script);
    stdout().write_all(&script).map_err(Failure::from_write)
}

pub(crate) fn man_page(args: &ManArgs) -> Result<(), Failure> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let command = match &args.subcommand {
        None => cli,
        Some(name) => {
            let found = cli.find_subcommand(name).cloned();
            let names: Vec<_> = cli.get_subcommands().map(clap::Command::get_name).collect();
            let names = names.join(", ");
            found.ok_or_else(|| {
                Failure::Usage(format!("there is no subcommand {name:?}; the subcommands are {names}"))
            })?
        }
    };
    let mut page = Vec::new();
    let man = Man::new(command).source(concat!("tollgate ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).map_err(Failure::from_write)?;
    stdout().write_all(&page).map_err(Failure::from_write)
}

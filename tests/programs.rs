//! Examples, tools and the command line's programs, each as a program of its own.

mod cli;
mod examples;
mod gateway;
mod playground;
mod simulate;
mod tools;

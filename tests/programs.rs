//! Examples, tools and the command line's programs, each as a program of its own.

mod examples;
mod gateway;
mod playground;
mod simulate;
mod tools;

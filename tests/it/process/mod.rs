//! The server as a process: starting, ending, being killed, and the other commands of the binary.

mod command_line;
mod end;
mod existing;
mod kill;
mod logs;
mod together;

mod given;
mod recordings;

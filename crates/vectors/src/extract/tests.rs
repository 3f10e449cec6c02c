mod any_talk;
mod scenes;
mod stage;

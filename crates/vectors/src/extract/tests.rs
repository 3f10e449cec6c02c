mod any_talk;
mod oddities;
mod scenes;
mod stage;

package config

// Key names a setting in a message, as "solver.lr", also with a value, as "solver.lr=0.1".
type Key string

// Spell is how messages write a setting. The command line sets it, to write the flag that gives the setting.
var Spell = func(k Key) string { return string(k) }

// String returns the setting as messages write it.
func (k Key) String() string { return Spell(k) }

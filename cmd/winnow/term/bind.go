package term

import (
	"fmt"
	"slices"
	"strings"

	"winnow/internal/catalog"

	"github.com/urfave/cli/v2"
)

// Flag returns a flag that is bound to a field of a command's options, so that the command need not read the flag. The
// default is the field's value; unset describes a default that differs. names is the name and, after commas, aliases.
// If the field is a pointer, it stays nil unless the flag is given.
func Flag(field any, names, usage string, unset ...string) cli.Flag {
	list := strings.Split(names, ",")
	name, more, shown := list[0], list[1:], strings.Join(unset, "")
	switch to := field.(type) {
	case *string:
		return &cli.StringFlag{Name: name, Aliases: more, Usage: usage, DefaultText: shown, Value: *to, Destination: to}
	case *bool:
		return &cli.BoolFlag{Name: name, Aliases: more, Usage: usage, DefaultText: shown, Value: *to, Destination: to}
	case *int:
		return &cli.IntFlag{Name: name, Aliases: more, Usage: usage, DefaultText: shown, Value: *to, Destination: to}
	case *uint64:
		return &cli.Uint64Flag{Name: name, Aliases: more, Usage: usage, DefaultText: shown, Value: *to, Destination: to}
	case *float64:
		return &cli.Float64Flag{Name: name, Aliases: more, Usage: usage, DefaultText: shown, Value: *to,
			Destination: to}
	case *[]string:
		return &cli.StringSliceFlag{Name: name, Aliases: more, Usage: usage, DefaultText: shown,
			Action: setGiven(func(v []string) { *to = v })}
	case **uint64:
		return &cli.Uint64Flag{Name: name, Aliases: more, Usage: usage, DefaultText: shown,
			Action: setGiven(func(v uint64) { *to = &v })}
	case **float64:
		return &cli.Float64Flag{Name: name, Aliases: more, Usage: usage, DefaultText: shown,
			Action: setGiven(func(v float64) { *to = &v })}
	}
	panic(fmt.Sprintf("term: a flag cannot be bound to a %T", field))
}

// OneOf makes all values of a flag but the listed ones misuse, and lists them in its usage.
func OneOf(flag cli.Flag, values ...string) *cli.StringFlag {
	f := flag.(*cli.StringFlag)
	f.Usage += ": " + strings.Join(values, ", ")
	f.Action = func(c *cli.Context, found string) error {
		if i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, found) }); i >= 0 {
			return c.Set(f.Name, values[i])
		}
		return Misused("--%s: found %q%s, expected %s", f.Name, found, catalog.Ask(found, values),
			strings.Join(values, ", "))
	}
	return f
}

// setGiven returns the flag's action, which the library calls with the value if the flag is given.
func setGiven[T any](set func(T)) func(*cli.Context, T) error {
	return func(_ *cli.Context, v T) error {
		set(v)
		return nil
	}
}

// BoundAction returns the action of a command whose flags are bound to o. check reads the arguments and returns an
// error for misuse; call does the work.
func BoundAction[O any](o *O, check func(*cli.Context, *O) error, call Call[O]) cli.ActionFunc {
	return Action(func(c *cli.Context) (O, error) {
		err := check(c, o)
		return *o, err
	}, call)
}

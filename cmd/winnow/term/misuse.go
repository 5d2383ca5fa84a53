package term

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// UsageError is misuse of the command line: exit code 2.
type UsageError = hint.Misuse

// Misused returns a UsageError.
func Misused(format string, args ...any) error { return hint.Misused(format, args...) }

// AsMisuse turns an error of a room into a UsageError; nil stays nil.
func AsMisuse(err error) error { return hint.AsMisuse(err) }

// commandName returns the command without the program's name: "data import".
func commandName(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, "winnow ")
}

// needed ends the help of a required flag.
const needed = "; required"

// Required makes a flag required.
func Required(f *cli.StringFlag) cli.Flag {
	f.Usage += needed
	return f
}

// checkRequired returns an error if a required flag is not given.
func checkRequired(c *cli.Context) error {
	var missing []string
	for _, f := range c.Command.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && strings.HasSuffix(d.GetUsage(), needed) && !c.IsSet(f.Names()[0]) {
			missing = append(missing, "--"+f.Names()[0])
		}
	}
	if missing == nil {
		return nil
	}
	return Misused("%s: %s missing: see '%[1]s --help'", c.Command.HelpName, strings.Join(missing, ", "))
}

// OneArgument returns a command's only argument. what says in errors what was expected.
func OneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", Misused("%s: found %d arguments, expected %s", c.Command.HelpName, c.NArg(), what)
	}
	return c.Args().First(), nil
}

// OneSource is [OneArgument] for a path or an address.
func OneSource(c *cli.Context, what string) (location.Source, error) {
	name, err := OneArgument(c, what)
	return location.At(name), err
}

// NoArguments returns an error if a command that takes no arguments has one.
func NoArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return Misused("%s: found the argument %q, expected none", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// OneManifest returns an error unless at most one manifest or folder of images is named, once.
func OneManifest(c *cli.Context) error {
	if n := c.NArg(); n > 1 || n == 1 && c.IsSet("manifest") {
		return Misused("%s takes one manifest or folder of images and flags, found %q", c.Command.HelpName,
			strings.Join(append(c.Args().Slice(), c.String("manifest")), " "))
	}
	return nil
}

// Size reads a flag that is a number of bytes: 1GiB, 512MB, 300000.
func Size(c *cli.Context, flag string) (int64, error) {
	n, err := parseSize(c.String(flag))
	if err != nil {
		return 0, Misused("--%s: %v", flag, err)
	}
	return n, nil
}

// parseSize reads a number of bytes above 0: 1GiB, 512MB, 300000.
func parseSize(size string) (int64, error) {
	var b text.Bytes
	if err := b.UnmarshalText([]byte(size)); err != nil || b == 0 {
		return 0, fmt.Errorf("%q is not a size: write for example 1GiB, 512MiB or 200000000", size)
	}
	return int64(b), nil
}

// Renamed returns flags of which one has a second name.
func Renamed(flags []cli.Flag, name, second string) []cli.Flag {
	out := make([]cli.Flag, len(flags))
	for i, f := range flags {
		if s, ok := f.(*cli.StringFlag); ok && s.Name == name {
			both := *s
			both.Aliases = append([]string{second}, s.Aliases...)
			f = &both
		}
		out[i] = f
	}
	return out
}

// Quoted joins words to a command for a shell.
func Quoted(words []string) string { return cluster.QuoteWords(words...) }

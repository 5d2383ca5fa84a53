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

// UsageError is the error for misuse of the command line. The exit code is 2.
type UsageError = hint.Misuse

// Misused returns a UsageError.
func Misused(format string, args ...any) error { return hint.Misused(format, args...) }

// AsMisuse converts an error to a [UsageError]; nil stays nil.
func AsMisuse(err error) error { return hint.AsMisuse(err) }

// commandName returns the command's name without the program's name, such as "data import".
func commandName(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, "winnow ")
}

// needed is the end of the help text of required flags.
const needed = "; required"

// Required marks a flag as required.
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

// OneArgument returns the only argument of a command. what describes the expected argument in errors.
func OneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", Misused("%s: found %d arguments, expected %s", c.Command.HelpName, c.NArg(), what)
	}
	return c.Args().First(), nil
}

// OneSource is like [OneArgument] for a path or a URL.
func OneSource(c *cli.Context, what string) (location.Source, error) {
	name, err := OneArgument(c, what)
	return location.At(name), err
}

// NoArguments returns an error if the command line has an argument.
func NoArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return Misused("%s: found the argument %q, expected no arguments", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// OneManifest returns an error if more than one manifest or folder of images is given, by argument or --manifest.
func OneManifest(c *cli.Context) error {
	if n := c.NArg(); n > 1 || n == 1 && c.IsSet("manifest") {
		return Misused("%s: found %q, expected at most one manifest or folder of images", c.Command.HelpName,
			strings.Join(append(c.Args().Slice(), c.String("manifest")), " "))
	}
	return nil
}

// Size returns the value of a flag that is a number of bytes, such as 1GiB, 512MB or 300000.
func Size(c *cli.Context, flag string) (int64, error) {
	n, err := parseSize(c.String(flag))
	if err != nil {
		return 0, Misused("--%s: %v", flag, err)
	}
	return n, nil
}

// parseSize parses a positive number of bytes, such as 1GiB, 512MB or 300000.
func parseSize(size string) (int64, error) {
	var b text.Bytes
	if err := b.UnmarshalText([]byte(size)); err != nil || b == 0 {
		return 0, fmt.Errorf("%q is not a size, expected for example 1GiB, 512MiB or 200000000", size)
	}
	return int64(b), nil
}

// Renamed returns a copy of flags in which the string flag called name also has the alias second.
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

// Quoted joins words to a shell command, with quotes where the shell needs them.
func Quoted(words []string) string { return cluster.QuoteWords(words...) }

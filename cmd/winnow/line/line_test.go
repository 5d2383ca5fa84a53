package line

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cluster"
)

func program() *cli.App {
	return &cli.App{Name: "winnow", Writer: io.Discard, Flags: []cli.Flag{&cli.StringFlag{Name: "device"}},
		Commands: []*cli.Command{
			{Name: "extract", Flags: []cli.Flag{&cli.StringFlag{Name: "out", Aliases: []string{"o"}},
				&cli.BoolFlag{Name: "strict"}, &cli.IntFlag{Name: "batch"}}},
			{Name: "data", Subcommands: []*cli.Command{
				{Name: "check", Flags: []cli.Flag{&cli.StringFlag{Name: "shard"}}},
			}},
		}}
}

// Command lines are parsed as by the program: which words are values, and the first names of flags.
func TestRead(t *testing.T) {
	got, err := Read(program(), strings.Fields("--device cuda extract --strict -o -x --batch=32 check -- data check "+
		"a.csv --shard 1/2 --device=cpu"))
	if err != nil {
		t.Fatal(err)
	}
	want := []cluster.Command{
		{Name: "extract", Words: strings.Fields("--device cuda extract --strict -o -x --batch=32 check"), At: 3,
			Known: []string{"out", "strict", "batch"},
			Flags: map[string]string{"device": "cuda", "strict": "true", "out": "-x", "batch": "32"}},
		{Name: "data check", Words: strings.Fields("data check a.csv --shard 1/2 --device=cpu"), At: 2,
			Known: []string{"shard"}, Flags: map[string]string{"shard": "1/2", "device": "cpu"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for line, want := range map[string]string{
		"extrat":                   `winnow extrat: is not a command (did you mean "extract"?)`,
		"extract --batc 3":         `winnow extract: --batc is not a flag of this command (did you mean "batch"?)`,
		"extract --out":            "winnow extract: --out has no value",
		"data":                     "winnow data: a command is missing",
		"data chek":                `winnow data chek: is not a command (did you mean "check"?)`,
		"--":                       "winnow : a command is missing",
		"extract -o x -- --device": "--device has no value",
	} {
		if list, err := Read(program(), strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, expected %q", line, list, err, want)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFlagsFirst(t *testing.T) {
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "device"}, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}}},
		Commands: []*cli.Command{
			{Name: "audit", Flags: []cli.Flag{&cli.StringFlag{Name: "out", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "json"}}},
			{Name: "data", Subcommands: []*cli.Command{{Name: "check", Flags: []cli.Flag{&cli.StringFlag{Name: "root"}}}}},
		},
	}
	for in, want := range map[string]string{
		"w":                                "w",
		"w audit run --out x":              "w audit --out x run",
		"w -q --device cpu audit run -o x": "w -q --device cpu audit -o x run",
		"w audit --json run --out=x":       "w audit --json --out=x run",
		"w data check m.csv --root r":      "w data check --root r m.csv",
		"w audit run -- --out x":           "w audit run -- --out x",
		"w audit - --json":                 "w audit --json -",
		"w audit --nosuch run":             "w audit --nosuch run",
	} {
		if got := strings.Join(flagsFirst(app, strings.Fields(in)), " "); got != want {
			t.Errorf("%q became %q, expected %q", in, got, want)
		}
	}
}

// Package data implements the "winnow data" command: it makes, checks and changes manifests.
package data

import "github.com/urfave/cli/v2"

// Command returns the "winnow data" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "data",
		Usage: "make, check and change manifests, the lists of images and their labels",
		Subcommands: []*cli.Command{
			importCommand(),
			checkCommand(),
			diffCommand(),
			corruptCommand(),
			toplineCommand(),
			glyphsCommand(),
		},
	}
}

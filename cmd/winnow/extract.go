package main

import "github.com/urfave/cli/v2"

func extractCommand() *cli.Command { return &cli.Command{Name: "extract"} }

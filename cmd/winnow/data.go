package main

import "github.com/urfave/cli/v2"

func dataCommand() *cli.Command { return &cli.Command{Name: "data"} }

package main

import "github.com/urfave/cli/v2"

func evalCommand() *cli.Command { return &cli.Command{Name: "eval"} }

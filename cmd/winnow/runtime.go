package main

import "github.com/urfave/cli/v2"

func runtimeCommand() *cli.Command { return &cli.Command{Name: "runtime"} }

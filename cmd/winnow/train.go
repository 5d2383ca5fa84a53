package main

import "github.com/urfave/cli/v2"

func trainCommand() *cli.Command { return &cli.Command{Name: "train"} }

package main

import "github.com/urfave/cli/v2"

func modelsCommand() *cli.Command { return &cli.Command{Name: "models"} }

package main

import (
	"context"
	"fmt"
	"strings"

	"rampsim"
)

func main() {
	ctx := context.Background()
	simulator, err := rampsim.Start(ctx)
	if err != nil {
		panic(err)
	}
	world, err := simulator.CreateWorld(ctx, "from-go")
	fmt.Println(err == nil && strings.HasSuffix(world.Credentials.Sandbox.BaseURL, "/v1") && world.Credentials.Sandbox.SecretKey != "")
	var receipt map[string]any
	err = simulator.Control(ctx, "POST", "/clock/advance", world.ID, map[string]string{"by": "31m"}, &receipt)
	fmt.Println(err == nil && strings.Contains(fmt.Sprint(receipt), "T08:31:00"))
	err = simulator.Control(ctx, "GET", "/clock", "unknown", nil, nil)
	fmt.Println(err != nil && strings.Contains(err.Error(), "404"))
	if err := simulator.Stop(ctx); err != nil {
		panic(err)
	}
}

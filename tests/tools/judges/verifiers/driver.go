package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	given, _ := io.ReadAll(os.Stdin)
	lines := strings.Split(strings.TrimRight(string(given), "\n"), "\n")
	head := strings.Split(lines[0], "\t")
	nowMs, _ := strconv.ParseInt(head[1], 10, 64)
	for _, line := range lines[1:] {
		parts := strings.Split(line, "\t")
		body, _ := base64.StdEncoding.DecodeString(parts[2])
		fmt.Println(isGenuine(head[0], parts[0], parts[1], body, nowMs))
	}
}

// Package testcontainers is a stand-in: the server that STUB_PORT names takes the place of the container.
package testcontainers

import (
	"context"
	"os"

	"github.com/testcontainers/testcontainers-go/wait"
)

type ContainerRequest struct {
	Image        string
	ExposedPorts []string
	Env          map[string]string
	WaitingFor   *wait.HTTPStrategy
}

type GenericContainerRequest struct {
	ContainerRequest
	Started bool
}

type Container interface {
	PortEndpoint(ctx context.Context, port string, proto string) (string, error)
	Terminate(ctx context.Context) error
}

type process struct{}

func (process) PortEndpoint(ctx context.Context, port string, proto string) (string, error) {
	return proto + "://127.0.0.1:" + os.Getenv("STUB_PORT"), nil
}

func (process) Terminate(ctx context.Context) error { return nil }

func GenericContainer(ctx context.Context, request GenericContainerRequest) (Container, error) {
	return process{}, nil
}

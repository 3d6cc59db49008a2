// Package rampsim starts a rampsim container for a test run, and calls its control interface.
package rampsim

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Simulator is a running container.
type Simulator struct {
	URL          string
	ControlToken string
	container    testcontainers.Container
}

// World has the values that your application needs.
type World struct {
	ID          string `json:"id"`
	Credentials struct {
		Sandbox Credentials `json:"sandbox"`
	} `json:"credentials"`
}

// Credentials are the base URL and the keys of one environment of a world.
type Credentials struct {
	BaseURL    string `json:"base_url"`
	PublicKey  string `json:"public_key"`
	SecretKey  string `json:"secret_key"`
	WebhookKey string `json:"webhook_key"`
}

// Start runs the image that RAMPSIM_IMAGE names, or rampsim, which `docker build -t rampsim .` makes.
func Start(ctx context.Context) (*Simulator, error) {
	image := os.Getenv("RAMPSIM_IMAGE")
	if image == "" {
		image = "rampsim"
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	token := hex.EncodeToString(secret)
	container, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        image,
			ExposedPorts: []string{"8642/tcp"},
			Env:          map[string]string{"SIMULATOR_CONTROL_TOKEN": token, "SIMULATOR_CLOCK": "manual"},
			WaitingFor:   wait.ForHTTP("/_simulator/ready").WithPort("8642/tcp"),
		},
		Started: true,
	})
	if err != nil {
		return nil, err
	}
	url, err := container.PortEndpoint(ctx, "8642/tcp", "http")
	if err != nil {
		return nil, err
	}
	return &Simulator{URL: url, ControlToken: token, container: container}, nil
}

// Stop ends the container.
func (s *Simulator) Stop(ctx context.Context) error {
	return s.container.Terminate(ctx)
}

// CreateWorld creates a world, or replaces it.
func (s *Simulator) CreateWorld(ctx context.Context, id string) (World, error) {
	var world World
	body := map[string]any{"id": id, "scenarios": []string{}, "replace": true}
	err := s.Control(ctx, "POST", "/worlds", "", body, &world)
	return world, err
}

// Control sends a control call, such as POST /clock/advance with the body {"by": "31m"}. It decodes the response into
// result, unless result is nil. The error has the response if the call is refused.
func (s *Simulator) Control(ctx context.Context, method, path, world string, body, result any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.URL+"/_simulator"+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.ControlToken)
	request.Header.Set("Content-Type", "application/json")
	if world != "" {
		request.Header.Set("X-Simulator-World", world)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, received)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(received, result)
}

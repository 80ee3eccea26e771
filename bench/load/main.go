// The load generator of the benchmark: one JSON command a line on stdin, one JSON answer a line on stdout. It keeps
// what it prepared (tokens, identities) and so measures nothing but the requests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Command is one line of stdin.
type Command struct {
	Do      string  `json:"do"`      // a case of obey
	Setup   Setup   `json:"setup"`   // of setup
	Count   int     `json:"count"`   // of prepare, enroll-agents and hold-streams
	Name    string  `json:"name"`    // of ready: a key of workloads
	Clients int     `json:"clients"` // of ready, where the workload does not say it
	Address string  `json:"address"` // of ready: the TLS server to ask
	Path    string  `json:"path"`    // of ready: the file to write, or what to ask for
	Seconds float64 `json:"seconds"` // of run
	// Of run: how many each worker does in a second, one after the other; 0: as fast as it can.
	PerSecond float64 `json:"per_second"`
	// Of ready: handshakes without the post-quantum key exchange, which older servers lack.
	IsClassic bool `json:"is_classic"`
	// Of enroll-agents: what each of them tells the hub, if it is not empty.
	Recipient string `json:"recipient"`
}

// Setup says where the hub and its CA are.
type Setup struct {
	EnrollAddress   string          `json:"enroll_address"`
	MtlsAddress     string          `json:"mtls_address"`
	AdminSocket     string          `json:"admin_socket"`
	CaURL           string          `json:"ca_url"`
	CaRootPath      string          `json:"ca_root_path"`
	ProvisionerName string          `json:"provisioner_name"`
	ProvisionerKey  json.RawMessage `json:"provisioner_key"`
	// What the names of the hosts that enrol begin with: several loads may have hubs of one vault.
	HostPrefix string `json:"host_prefix"`
}

func main() {
	generator := &Generator{}
	input := bufio.NewScanner(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var command Command
		answer, err := any(nil), json.Unmarshal(input.Bytes(), &command)
		if err == nil {
			answer, err = generator.obey(command)
		}
		if err != nil {
			answer = map[string]string{"error": fmt.Sprintf("%s %s: %v", command.Do, command.Name, err)}
		}
		if output.Encode(answer) != nil {
			return
		}
	}
}

func (g *Generator) obey(command Command) (any, error) {
	switch command.Do {
	case "setup":
		return struct{}{}, g.setUp(command.Setup)
	case "prepare":
		return struct{}{}, g.prepareEnrolments(command.Count)
	case "enroll-agents":
		g.recipient = command.Recipient
		return struct{}{}, g.enrollAgents(command.Count)
	case "hold-streams":
		return g.holdStreams(command.Count)
	case "check-streams":
		return g.checkStreams()
	case "manifest":
		return g.readManifest()
	case "ready":
		return struct{}{}, g.getReady(command)
	case "run":
		return g.run(command)
	}
	return nil, fmt.Errorf("no such command")
}

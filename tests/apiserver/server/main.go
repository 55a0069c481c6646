// Command server is a Kubernetes API server and its etcd in one process, for tests: no kubelet, no controllers, no
// operator. It listens on 127.0.0.1 and ends when its standard input does, so that it never outlives the tests.
//
//	server DIR PORT [FLAG...]
//
// DIR gets everything that a client needs: certs/apiserver.crt to trust and token to send. FLAGs go to kube-apiserver.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const storageStartTimeout = 30 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: server DIR PORT [FLAG...]")
	}
	dir, port, more := args[0], args[1], args[2:]
	if err := writeCredentials(dir); err != nil {
		return err
	}
	storage, err := startStorage(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer storage.Close()
	go exitWithInput()
	command := app.NewAPIServerCommand()
	command.SetArgs(append(flags(dir, port, storage.Clients[0].Addr().String()), more...))
	return command.Execute()
}

// exitWithInput needs no orderly end: nothing of a server for tests is used again.
func exitWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func writeCredentials(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	token := hex.EncodeToString(secret)
	files := map[string][]byte{
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"token":      []byte(token),
		"tokens.csv": []byte(token + ",admin,admin,system:masters\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func startStorage(dir string) (*embed.Etcd, error) {
	local := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true // what a test stored need not survive a power cut
	config.ListenClientUrls, config.AdvertiseClientUrls = local, local
	config.ListenPeerUrls, config.AdvertisePeerUrls = local, local
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	storage, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-storage.Server.ReadyNotify():
		return storage, nil
	case err := <-storage.Err():
		return nil, err
	case <-time.After(storageStartTimeout):
		storage.Close()
		return nil, errors.New("etcd is not ready in time")
	}
}

// flags leaves out the ServiceAccount admission plugin, since no controller makes the default ServiceAccounts.
func flags(dir, port, storage string) []string {
	key := filepath.Join(dir, "sa.key")
	return []string{
		"--etcd-servers=http://" + storage,
		"--cert-dir=" + filepath.Join(dir, "certs"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		"--token-auth-file=" + filepath.Join(dir, "tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://127.0.0.1",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/16",
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true", // as clusters with device plugins and storage drivers have it
	}
}

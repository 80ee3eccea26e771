// The images of deploy/Containerfile, built from the packages and run by podman as docs/operations.md says: every block of it that is
// for podman is typed. One story: each test goes on where the one before it stopped.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ROOT } from '../../tools/source-files.ts'
import { readTypedBlocks, type TypedBlock } from '../machines/support/typed-blocks.ts'
import { waitUntil } from '../support/processes.ts'
import { buildPackages } from './support/built-packages.ts'
import {
  type ContainerMachine,
  startContainerMachine,
  withContainers,
} from './support/container-machine.ts'

// The first time a Debian is made too.
const TIMEOUT = { timeout: 15 * 60_000 }
const HOST = 'web-1.example.org'
const CA = 'https://127.0.0.1:9000'
const WAIT_MS_MAX = 120_000
// Far more than it takes: podman kills what has not ended by then, and that shows in the exit status.
const STOP = 'podman stop --time 60'

describe('the images', { ...withContainers(), ...TIMEOUT }, () => {
  const started = new AsyncDisposableStack()
  let machine: ContainerMachine
  let blocks: TypedBlock[]

  const setUp = async (): Promise<void> => {
    const directory = await mkdtemp(join(tmpdir(), 'packages-'))
    started.defer(() => rm(directory, { recursive: true, force: true }))
    await buildPackages(directory, '0.5.0')
    machine = started.use(
      await startContainerMachine({
        containerfile: join(ROOT, 'deploy/Containerfile'),
        context: directory,
        images: { hub: 'cartorio-hub', agent: 'cartorio-agent' },
      }),
    )
    await startCa()
    const page = await readTypedBlocks(join(ROOT, 'docs/operations.md'))
    blocks = page.filter((block) => block.machine === 'podman')
  }
  before(setUp, TIMEOUT)
  after(() => started.disposeAsync())

  /** What the page says that the reader has. */
  const startCa = async (): Promise<void> => {
    const svcCa = `${ROOT}/bin/svc-ca`
    const made = await machine.output(`${svcCa} init --dir ca --listen 127.0.0.1:9000 --json`)
    const ca = JSON.parse(made) as Record<string, string>
    machine.start(`exec ${svcCa} serve --dir ca`)
    await machine.output(`
umask 077
cp ${ca['SVC_CA_ROOT_CA_PATH']} root_ca.crt
echo '${ca['SVC_CA_PROVISIONER_KEY']}' >provisioner.json
echo '127.0.0.1 hub.example.org' >>/etc/hosts`)
    await succeeds(`curl --fail --silent --cacert root_ca.crt ${CA}/health`)
  }

  /** Returns what it printed. */
  const type = async (
    beginning: string,
    replace = (text: string): string => text,
  ): Promise<string> => {
    const block = blocks.find(({ text }) => text.startsWith(beginning))
    assert.ok(block, `no block begins with ${beginning}`)
    return machine.output(replace(block.text))
  }
  const succeeds = (script: string): Promise<string> =>
    waitUntil(
      script,
      async () => {
        const { status, stdout } = await machine.run(script)
        return status === 0 ? stdout : undefined
      },
      WAIT_MS_MAX,
    )
  const exitStatuses = (): Promise<string> =>
    machine.output('podman inspect hub agent --format "{{.Name}} {{.State.ExitCode}}"')

  test('a hub’s vault is made by init, and by nobody who lets everybody read the passphrase', async () => {
    await type('openssl rand', (text) => text.replace('https://ca.example.org:9000', CA))
    const readable = await machine.run(
      'podman run --rm --volume other:/var/lib/svc --secret master-passphrase --entrypoint svc cartorio-hub init',
    )
    assert.equal(readable.status, 1)
    assert.match(readable.stderr, /every user of this machine can read/)
  })

  test('a hub becomes healthy, as an ordinary user who can write nothing but the volume', async () => {
    await type('podman run --rm --volume hub', (text) =>
      text.replace('podman healthcheck run hub\n', ''),
    )
    await succeeds('podman healthcheck run hub')
    await succeeds('podman exec hub svc status')
    assert.equal(
      await machine.output(`
podman exec hub sh -euc 'id -u; id -g; grep ^CapEff /proc/self/status; stat -c "%u:%g %a %n" /var/lib/svc /var/lib/svc/db.enc
if touch /usr/written 2>/dev/null; then echo "the root can be written"; fi'`),
      `\
8443
8443
CapEff:\t0000000000000000
8443:8443 700 /var/lib/svc
8443:8443 600 /var/lib/svc/db.enc
`,
    )
  })

  test('what the page says cannot be reached listens on loopback, the rest everywhere', async () => {
    const listening = await machine.output('ss --no-header --listening --tcp --numeric')
    const addresses = [...listening.matchAll(/ (\S+:(?:8\d{3}|9464)) /g)].map(
      ([, address = '']) => address,
    )
    assert.deepEqual(addresses.toSorted(), [
      '0.0.0.0:8443',
      '0.0.0.0:8446',
      '127.0.0.1:8080',
      '127.0.0.1:8444',
      '127.0.0.1:8445',
      '127.0.0.1:9464',
    ])
  })

  test('an agent enrols with what svc printed, and installs what it is given', async () => {
    const [create = '', ...rest] =
      blocks
        .find(({ text }) => text.includes('svc token create'))
        ?.text.split(/(?<=--role web\n)/) ?? []
    const printed = await machine.output(create)
    const token = /svct_[\w-]+/.exec(printed)?.[0] ?? ''
    const fingerprint = /--ca-fingerprint (\S+)/.exec(printed)?.[1] ?? ''
    await machine.output(
      rest
        .join('')
        .replace('svct_…', token)
        .replace('--ca-fingerprint …', `--ca-fingerprint ${fingerprint}`),
    )
    await deliver('site')
    assert.equal(
      await machine.output(`podman exec agent sh -euc '
id -u; cd /var/lib/svc-agent; stat -L -c "%u:%g %a %n" identity/agent.key out/site.crt out/site.key'`),
      `\
8444
8444:8444 600 identity/agent.key
8444:8444 644 out/site.crt
8444:8444 600 out/site.key
`,
    )
  })

  /** It is there, and its key with it, when the hub says that it is installed. */
  const deliver = async (nome: string): Promise<void> => {
    await machine.output(
      `podman exec hub svc load create --type csr_cert --name ${nome} --agent ${HOST}`,
    )
    await waitUntil(
      `${nome} to be installed`,
      async () => {
        const listed = await machine.output('podman exec hub svc delivery list --json')
        const { entregas } = JSON.parse(listed) as { entregas: { nome: string; status: string }[] }
        const isInstalled = entregas.some((one) => one.nome === nome && one.status === 'instalada')
        return isInstalled || undefined
      },
      WAIT_MS_MAX,
    )
  }

  test('both go on after a restart', async () => {
    await machine.output(`podman restart --time 60 hub agent`)
    await succeeds('podman healthcheck run hub')
    await deliver('again')
  })

  test('both end by SIGTERM: podman kills neither', async () => {
    await machine.output(`${STOP} hub agent`)
    // As first processes they handle the signal; 137 would be SIGKILL.
    assert.equal(await exitStatuses(), 'hub 0\nagent 143\n')
    const log = await machine.output('podman logs hub 2>&1')
    assert.doesNotMatch(log, /"level":"?(error|fatal|50|60)/i)
  })

  test('and start again with the same volumes', async () => {
    await machine.output('podman start hub agent')
    await succeeds('podman healthcheck run hub')
    await deliver('later')
    await machine.output(`${STOP} agent hub`)
    assert.equal(await exitStatuses(), 'hub 0\nagent 143\n')
  })
})

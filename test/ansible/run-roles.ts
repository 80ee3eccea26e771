// `npm run ansible`: the roles of deploy/ansible by ansible-core, over ssh, against three machines with a systemd each, and a hub on a
// fourth. Checked without a change first, then run, then run again, which changes nothing.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../src/platform/program.ts'
import { ensurePythonProgram } from '../../tools/python-program.ts'
import { ROOT } from '../../tools/source-files.ts'
import { startSystemdMachine, type SystemdMachine } from '../machines/support/systemd-machine.ts'
import { buildPackages } from '../packages/support/built-packages.ts'
import { initVault, setUpHub } from '../packages/support/installed-pair.ts'
import { type Ended, startProgram, waitUntil } from '../support/processes.ts'
import { TOOL_PATH } from '../support/tools.ts'
import { MACHINE_PACKAGES, connectToHub, inventoryOf } from './machines.ts'

const HOSTS = ['web-1.example.org', 'web-2.example.org', 'db-1.example.org']
const ANSIBLE = {
  name: 'ansible-core',
  version: '2.19.14',
  module: 'ansible',
  besides: ['ansible-lint==26.10.1'],
} as const
const SITE = `name = "site"
reload = ["true"]

[[file]]
path = "/etc/site/site.pem"
content = ["cert", "chain"]

[[file]]
path = "/etc/site/site.key"
content = ["key"]
`
const FLEET_HOST = ['--extra-vars', 'svc_fleet_host=hub'] as const
const FLEET = `[[load]]
name = "site"
type = "csr_cert"
where = "role=web"
`

async function runRoles(): Promise<void> {
  await using started = new AsyncDisposableStack()
  const [python] =
    (await ensurePythonProgram(ANSIBLE)) ?? assert.fail('ansible could not be installed')
  const directory = await mkdtemp(join(tmpdir(), 'ansible-'))
  started.defer(() => rm(directory, { recursive: true, force: true }))
  await writeTools(python, directory)
  await lint(python, directory)

  say('building the packages, and booting four machines')
  const packages = await buildPackages(directory, '0.5.0')
  const start = async (hostname: string): Promise<SystemdMachine> =>
    started.use(
      await startSystemdMachine({ hostname, directories: [directory], services: MACHINE_PACKAGES }),
    )
  const hub = await start('hub.example.org')
  const machines = new Map<string, SystemdMachine>()
  for (const name of HOSTS) machines.set(name, await start(name))
  await connectToHub(hub, [...machines.values()])
  await hub.output(`apt-get install -qq -y ${directory}/svc-server_*.deb >/dev/null 2>&1`)
  await setUpHub(hub)
  await initVault(hub)
  await hub.output('systemctl enable --quiet --now svc-server')
  await waitUntil('the hub', async () => {
    const { status } = await hub.run('curl --fail --silent http://127.0.0.1:9464/readyz')
    return status === 0 || undefined
  })
  await hub.output(`mkdir /root/fleet && printf '%s' '${FLEET}' >/root/fleet/loads.toml`)

  const inventory = await inventoryOf(directory, { hub, ...Object.fromEntries(machines) }, HOSTS, {
    svc_agent_package: packages.find((path) => path.includes('svc-agent_')),
    svc_agent_role: '{{ "web" if inventory_hostname is match("web-") else "db" }}',
    svc_agent_labels: { env: 'prod', rack: 'r7' },
    svc_agent_token_host: 'hub',
    svc_agent_settings: { SVC_AGENT_POLL_INTERVAL: '1s' },
    svc_agent_targets: { site: SITE, old: null },
    svc_fleet_files: ['/root/fleet'],
    svc_fleet_secrets_file: '/root/secrets',
  })
  const play = (...more: string[]): Promise<Recap> => playRoles(python, directory, inventory, more)

  const checked = await play('--check')
  assert.ok(checked.changed > 0, 'a check says what it would change')
  for (const machine of machines.values()) {
    assert.equal((await machine.run('dpkg-query --show svc-agent')).status, 1)
  }
  const first = await play()
  for (const machine of machines.values()) {
    assert.equal((await machine.output('systemctl is-active svc-agent')).trim(), 'active')
    assert.equal((await machine.run('ls /run/svc-agent-enrol-token')).status, 2)
    assert.doesNotMatch(await machine.output('journalctl --no-pager'), /svct_/)
  }
  const agents = JSON.parse(await hub.output('svc agent list --where env=prod --json')) as {
    agentes: { hostname: string; role: string }[]
  }
  assert.deepEqual(
    new Map(agents.agentes.map(({ hostname, role }) => [hostname, role])),
    new Map(HOSTS.map((name) => [name, name.startsWith('web') ? 'web' : 'db'])),
  )
  for (const name of HOSTS.filter((each) => each.startsWith('web-'))) {
    await waitUntil(`the certificate of ${name}`, async () => {
      const looked = await machines.get(name)?.run('test -s /etc/site/site.pem')
      return looked?.status === 0 || undefined
    })
  }
  const second = await play()
  assert.equal(second.changed, 0, second.text)
  assert.equal((await play('--check')).changed, 0)
  const changed = await play(
    '--extra-vars',
    '{"svc_agent_settings":{"SVC_AGENT_POLL_INTERVAL":"2s"}}',
  )
  // The line, and the restart that it asks for.
  assert.equal(changed.changed, 2 * HOSTS.length, changed.text)
  for (const { text } of [checked, first, second, changed]) assert.doesNotMatch(text, /svct_/)
  say('all is as it should be')
}

interface Recap {
  readonly changed: number
  readonly text: string
}

async function playRoles(
  python: string,
  directory: string,
  inventory: string,
  more: readonly string[],
): Promise<Recap> {
  const began = performance.now()
  const playbook = join(ROOT, 'deploy/ansible/playbooks/fleet.yml')
  const args = [
    '-m',
    'ansible',
    'playbook',
    '-v',
    '-i',
    inventory,
    playbook,
    ...FLEET_HOST,
    ...more,
  ]
  const { status, stdout, stderr } = await run(python, args, directory)
  assert.equal(status, 0, `${stdout}${stderr}`)
  const recaps = [...stdout.matchAll(/^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=0 /gm)]
  assert.equal(recaps.length, HOSTS.length + 1, stdout)
  const changed = recaps.reduce((sum, [, , count]) => sum + Number(count), 0)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  say(
    `ansible-playbook ${more[0] ?? ''}: changed=${changed} on ${recaps.length} hosts, ${seconds} s`,
  )
  return { changed, text: stdout + stderr }
}

/** What ansible-lint calls: the programs beside that Python name the place where they were made. */
async function writeTools(python: string, directory: string): Promise<void> {
  await mkdir(join(directory, 'bin'))
  for (const name of ['config', 'galaxy', 'playbook']) {
    const script = `#!/bin/sh\nexec ${python} -m ansible ${name} "$@"\n`
    await writeFile(join(directory, 'bin', `ansible-${name}`), script, { mode: 0o755 })
  }
  await writeFile(
    join(directory, 'bin/ansible'),
    `#!/bin/sh\nexec ${python} -m ansible adhoc "$@"\n`,
    {
      mode: 0o755,
    },
  )
}

/** With the collection where Ansible looks for one. */
async function lint(python: string, directory: string): Promise<void> {
  const place = join(directory, 'collections/ansible_collections/cartorio')
  await mkdir(place, { recursive: true })
  await symlink(join(ROOT, 'deploy/ansible'), join(place, 'agent'))
  const args = ['-m', 'ansiblelint', '.']
  const { status, stdout, stderr } = await run(python, args, directory, join(place, 'agent'))
  assert.equal(status, 0, `${stdout}${stderr}`)
  say(`ansible-lint: ${/Passed: .*/.exec(stderr)?.[0] ?? 'nothing found'}`)
}

function run(
  python: string,
  args: readonly string[],
  directory: string,
  cwd = directory,
): Promise<Ended> {
  const command = [`--chdir=${cwd}`, python, ...args]
  return startProgram('/usr/bin/env', command, environment(directory)).ended
}

function environment(directory: string): Record<string, string> {
  return {
    PATH: `${join(directory, 'bin')}:${TOOL_PATH}`,
    HOME: directory,
    LANG: 'C.UTF-8',
    ANSIBLE_COLLECTIONS_PATH: join(directory, 'collections'),
    ANSIBLE_HOST_KEY_CHECKING: 'false',
    ANSIBLE_PIPELINING: 'true',
    ANSIBLE_NOCOLOR: 'true',
  }
}

function say(what: string): void {
  process.stdout.write(`${what}\n`)
}

void runProgram('ansible', runRoles)

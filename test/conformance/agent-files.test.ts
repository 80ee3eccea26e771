// What svc-agent keeps on disk: docs/protocol.md AGT, AGV. Modes, owners, places, and what it never overwrites.

import assert from 'node:assert/strict'
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../support/agent-host.ts'
import { type Ended, runProgram, runTool, type Variables } from '../support/processes.ts'

const SVC_AGENT = fileURLToPath(new URL('../../bin/svc-agent', import.meta.url))
const isRoot = process.getuid?.() === 0

let hub: FakeHub

before(async () => {
  hub = await FakeHub.start()
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
})

const agent = (host: AgentHost, args: readonly string[], extra: Variables = {}): Promise<Ended> =>
  runProgram('svc-agent', args, { ...host.env, ...extra })

async function enrolledHost(): Promise<AgentHost> {
  const host = await AgentHost.create(hub)
  await host.enroll()
  return host
}

describe('files of svc-agent', () => {
  test('[AGT-2] are these, with these modes', async () => {
    await using host = await AgentHost.create(hub)
    hub.tokens.set('svct_modes', { hostname: 'web-1', role: 'web' })
    hub.entregas = [manifestEntry()]
    const token = { SVC_ENROLL_TOKEN: 'svct_modes' }
    assert.equal((await agent(host, ['enroll'], token)).status, 0)
    assert.equal((await agent(host, ['run', '--once'])).status, 0)
    const modeOf = async (name: string): Promise<string> =>
      ((await stat(join(host.dataDir, name))).mode & 0o777).toString(8)
    const modes = {
      '.': '755',
      identity: '700',
      'identity/agent.crt': '644',
      'identity/agent.key': '600',
      'identity/ca.pem': '644',
      out: '755',
      'out/site.crt': '644',
      'out/site.key': '600',
      state: '700',
      'state/processed.json': '600',
    }
    for (const [name, mode] of Object.entries(modes)) assert.equal(await modeOf(name), mode, name)
  })

  test('[AGV-10] [AGV-11] [AGV-12] are elsewhere when the variables say so', async () => {
    await using host = await enrolledHost()
    hub.entregas = [manifestEntry()]
    const place = (name: string): string => join(host.directory, name)
    await mkdir(place('hooks'), { mode: 0o755 })
    await writeFile(join(place('hooks'), 'post-csr-cert'), '#!/bin/sh\npwd > ../hook-ran\n')
    await chmod(join(place('hooks'), 'post-csr-cert'), 0o755)
    const { status, stderr } = await agent(host, ['run', '--once'], {
      SVC_AGENT_OUT_DIR: place('certs'),
      SVC_AGENT_STATE_DIR: place('memory'),
      SVC_AGENT_HOOK_DIR: place('hooks'),
    })
    assert.equal(status, 0, stderr)
    assert.match(await readFile(join(place('certs'), 'site.crt'), 'utf8'), /BEGIN CERTIFICATE/)
    assert.match(await readFile(join(place('memory'), 'processed.json'), 'utf8'), /"site"/)
    assert.equal(await readFile(place('hook-ran'), 'utf8'), `${place('certs')}\n`)
    assert.deepEqual(await readdir(join(host.dataDir, 'out')), [])
  })

  test(
    '[AGT-4] belong to the owner of the data directory, whom a root becomes for good',
    {
      skip: isRoot ? false : 'only root can become another',
    },
    async () => {
      await using host = await AgentHost.create(hub)
      hub.tokens.set('svct_owner', { hostname: 'web-1', role: 'web' })
      hub.entregas = [manifestEntry()]
      await mkdir(join(host.dataDir, 'hooks'), { recursive: true, mode: 0o755 })
      const hook = join(host.dataDir, 'hooks/post-csr-cert')
      await writeFile(hook, '#!/bin/sh\necho $(id -u) $(id -g) $(id -G) > who\n')
      await chmod(hook, 0o755)
      const uid = Number(await runTool('id', ['-u', 'nobody']))
      const gid = Number(await runTool('id', ['-g', 'nobody']))
      for (const path of [host.dataDir, join(host.dataDir, 'hooks'), hook]) {
        await chown(path, uid, gid)
      }
      const token = { SVC_ENROLL_TOKEN: 'svct_owner' }
      assert.equal((await agent(host, ['enroll'], token)).status, 0)
      const { status, stderr } = await agent(host, ['run', '--once'])
      assert.equal(status, 0, stderr)
      // No group of root's is left.
      assert.equal(await readFile(join(host.dataDir, 'out/who'), 'utf8'), `${uid} ${gid} ${gid}\n`)
      for (const name of await readdir(host.dataDir, { recursive: true })) {
        const stats = await stat(join(host.dataDir, name))
        assert.deepEqual([stats.uid, stats.gid], [uid, gid], name)
      }
    },
  )

  test(
    '[AGT-4] [HOK-2] may belong to a user whom the system has no name for, as in a container',
    {
      skip: isRoot ? false : 'only root can become another',
    },
    async () => {
      await using host = await enrolledHost()
      hub.entregas = [manifestEntry()]
      const hooks = join(host.dataDir, 'hooks')
      await mkdir(hooks, { mode: 0o755 })
      await writeFile(join(hooks, 'post-csr-cert'), '#!/bin/sh\necho "$(id -u) $HOME" > who\n')
      await chmod(join(hooks, 'post-csr-cert'), 0o755)
      await runTool('chown', ['-R', '4242:4343', host.dataDir])
      const asStranger = ['setpriv', '--reuid=4242', '--regid=4343', '--clear-groups']
      const round = [...asStranger, SVC_AGENT, 'run', '--once']
      const { status, stderr } = await runProgram('/usr/bin/env', round, host.env)
      assert.equal(status, 0, stderr)
      assert.equal(await readFile(join(host.dataDir, 'out/who'), 'utf8'), '4242 /\n')
    },
  )

  const damaged: [name: string, content: string, message: RegExp][] = [
    ['identity/agent.crt', '-----BEGIN CERT', /identity at .*\/identity is damaged: /],
    ['identity/agent.key', '', /identity at .*\/identity is damaged: /],
    ['identity/ca.pem', 'x', /identity at .*\/identity is damaged: ca\.pem holds no certificate/],
    ['state/processed.json', '{"format":1,"deliveries":{', /processed\.json is damaged: /],
    ['state/processed.json', '{"format":2}', /processed\.json is damaged: /],
  ]
  for (const [name, content, message] of damaged) {
    test(`[AGT-31] [AGT-3] ${name} with ${JSON.stringify(content)} is named, and never overwritten`, async () => {
      await using host = await enrolledHost()
      hub.entregas = [manifestEntry()]
      const path = join(host.dataDir, name)
      await writeFile(path, content)
      for (const command of [['run', '--once'], ['status'], ['rotate']]) {
        // The identity can be renewed while the list of deliveries is damaged.
        if (command[0] === 'rotate' && name.startsWith('state/')) continue
        const { status, stderr } = await agent(host, command)
        assert.equal(status, 1, command.join(' '))
        assert.match(stderr, message)
        assert.match(stderr, /svc-agent: hint: /)
        assert.equal(await readFile(path, 'utf8'), content)
      }
      const { status, stderr } = await agent(host, ['enroll'])
      assert.deepEqual([status, stderr], [1, 'svc-agent: error: identity already present\n'])
      assert.equal(await readFile(path, 'utf8'), content)
    })
  }
})

// self-update of the built executable, against files that the real minisign signed. No Node is on PATH.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import {
  chown,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/platform/clock.ts'
import { pinnedNode } from '../../tools/build/runtime.ts'
import {
  type BuiltAgents,
  buildAgents,
  InstalledAgent,
  pretendAgent,
} from '../support/built-agent.ts'
import { MinisignKey, WITH_MINISIGN } from '../support/minisign.ts'
import { type Ended, startProgram, waitUntil } from '../support/processes.ts'
import {
  type Answer,
  answerEndless,
  answerRedirect,
  answerStatus,
  answerTruncated,
  ReleaseServer,
} from '../support/release-server.ts'
import { pathOfTool } from '../support/tools.ts'

const ROOT_ONLY = { skip: process.getuid?.() === 0 ? false : 'only root has rights to lay aside' }
const STRANGER = 65_534
const OLD = '0.1.0'
const NEW = '0.1.1'
const MISMATCH = 'svc-agent: error: signature does NOT match binary — refusing to install\n'

describe('self-update', WITH_MINISIGN, () => {
  let key: MinisignKey
  let built: BuiltAgents
  let server: ReleaseServer
  let newContent: Buffer
  before(async () => {
    key = await MinisignKey.create()
    built = await buildAgents([OLD, NEW], key.publicKey)
    server = await ReleaseServer.start()
    newContent = await readFile(built.paths[1] ?? '')
    server.offer('new', newContent, key.sign(newContent))
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await built[Symbol.asyncDispose]()
    await key[Symbol.asyncDispose]()
  })

  const install = (): Promise<InstalledAgent> => InstalledAgent.create(built.paths[0] ?? '')
  const update = (agent: InstalledAgent, name: string, ...more: string[]): Promise<Ended> =>
    agent.command('self-update', '--url', `${server.httpUrl}/${name}`, ...more)

  test('[UPD-1] [UPD-5] [UPD-6] a newer release takes the place of the executable that runs', async () => {
    await using agent = await install()
    assert.equal(await agent.version(), OLD)
    const { status, stdout, stderr } = await update(agent, 'new', '--json')
    assert.equal(status, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), {
      binary: agent.binary,
      old_version: OLD,
      new_version: NEW,
      old_binary: `${agent.binary}.old`,
      restart: 'not_running',
    })
    assert.match(stderr, /^fetched \d+ % \(.* MB\)$/m)
    assert.equal(await agent.version(), NEW)
    assert.equal((await stat(agent.binary)).mode & 0o777, 0o755)
    assert.deepEqual(await readFile(agent.binary), newContent)
    assert.deepEqual(await readFile(`${agent.binary}.old`), await readFile(built.paths[0] ?? ''))
    assert.match(
      await agent.readBeside('.update'),
      /^old=0\.1\.0\nnew=0\.1\.1\noutcome=unknown\nat=\S+Z\n$/,
    )
    assert.deepEqual(readdirSync(agent.directory).sort(), [
      'svc-agent',
      'svc-agent.old',
      'svc-agent.update',
    ])
    const again = await update(agent, 'new')
    assert.equal(again.status, 1)
    assert.match(again.stderr, /^svc-agent: error: version 0\.1\.1 is not newer than 0\.1\.1$/m)
  })

  test('[UPD-1] --binary names another executable, by whatever link', async () => {
    await using agent = await install()
    await using other = await install()
    const path = join(agent.directory, 'link')
    await symlink(other.binary, path)
    const { status, stderr } = await update(agent, 'new', '--binary', path)
    assert.equal(status, 0, stderr)
    assert.equal(await other.version(), NEW)
    assert.equal(await agent.version(), OLD)
  })

  test('[UPD-7] https is checked against the store of the system', async () => {
    await using agent = await install()
    const url = `${server.httpsUrl}/new`
    const strange = await agent.command('self-update', '--url', url)
    assert.equal(strange.status, 1)
    assert.match(strange.stderr, /cannot fetch https:/)
    assert.equal(await agent.version(), OLD)
    agent.env['SSL_CERT_FILE'] = server.caPath
    const { status, stderr } = await agent.command('self-update', '--url', url)
    assert.equal(status, 0, stderr)
    assert.equal(await agent.version(), NEW)
  })

  test('[UPD-3] a release that is not newer installs with --allow-downgrade only', async () => {
    await using agent = await install()
    for (const [name, version] of [
      ['older', '0.0.9'],
      ['same', OLD],
    ] as const) {
      const content = pretendAgent(version)
      const trustedComment = `version:${version} file:svc-agent`
      server.offer(name, content, key.sign(content, { trustedComment }))
      await assertRefused(agent, await update(agent, name), `is not newer than ${OLD}`)
    }
    assert.equal((await update(agent, 'older', '--allow-downgrade')).status, 0)
    assert.equal(await agent.version(), '0.0.9')
  })

  test('[UPD-1] [UPD-22] one URL serves hosts of both architectures, and none installs the other’s program', async () => {
    await using agent = await install()
    const [own, other, machine] =
      process.arch === 'x64' ? ['x64', 'arm64', 183] : ['arm64', 'x64', 62]
    const foreign = Buffer.from(newContent.subarray(0, 4096))
    foreign.writeUInt16LE(machine, 18)
    server.offer(`both/linux-${other}`, foreign, key.sign(foreign))
    server.offer(`both/linux-${own}`, newContent, key.sign(newContent))
    await assertRefused(
      agent,
      await update(agent, `both/linux-${other}`),
      `this svc-agent is for ${other}, and the host is ${own}`,
    )
    const { status, stderr } = await update(agent, 'both/{arch}')
    assert.equal(status, 0, stderr)
    assert.equal(await agent.version(), NEW)
  })

  test('[UPD-6] a legacy signature is as good', async () => {
    await using agent = await install()
    const content = pretendAgent(NEW)
    server.offer('legacy', content, key.sign(content, { legacy: true }))
    assert.equal((await update(agent, 'legacy')).status, 0)
    assert.equal(await agent.version(), NEW)
  })

  test('[UPD-2] [UPD-3] [UPD-7] what is not that release changes nothing', async () => {
    await using agent = await install()
    await using strange = await MinisignKey.create()
    const content = pretendAgent(NEW)
    const signature = key.sign(content)
    const flipped = (bytes: Buffer, at: number): Buffer =>
      bytes.with(at, (bytes[at] ?? 0) ^ 1) as Buffer
    const commented = (trustedComment: string): Buffer => key.sign(content, { trustedComment })
    const table: [string, Uint8Array | Answer, Uint8Array | Answer, string][] = [
      ['wrong-key', content, strange.sign(content), MISMATCH],
      ['other-signature', content, key.sign('another file'), MISMATCH],
      ['no-signature', content, Buffer.from('none'), MISMATCH],
      ['flipped-content', flipped(content, 30), signature, MISMATCH],
      ['flipped-comment', content, flipped(signature, 20), MISMATCH],
      ['flipped-signature', content, flipped(signature, 90), MISMATCH],
      ['flipped-trusted', content, flipped(signature, 180), MISMATCH],
      ['flipped-global', content, flipped(signature, signature.length - 20), MISMATCH],
      ['other-file', content, commented('version:0.1.1 file:svc'), 'is for the file svc,'],
      ['no-version', content, commented('file:svc-agent'), 'names no version'],
      [
        'two-versions',
        content,
        commented('version:0.1.1 version:0.1.2 file:svc-agent'),
        'more than one version',
      ],
      [
        'other-version',
        content,
        commented('version:0.2.0 file:svc-agent'),
        'says that it is "0.1.1"',
      ],
      ['crashes', ...signed('#!/bin/sh\nexit 7\n'), '--version ended with status 7'],
      ['is-killed', ...signed('#!/bin/sh\nkill -9 $$\n'), '--version ended by SIGKILL'],
      ['no-program', ...signed('\u007fELF\n'), '--version ended with status'],
      ['truncated', answerTruncated(content), signature, 'cannot fetch'],
      ['truncated-signature', content, answerTruncated(signature), 'cannot fetch'],
      ['endless', answerEndless(), signature, 'it is longer than 268435456 bytes'],
      ['endless-signature', content, answerEndless(), 'it is longer than 4096 bytes'],
      ['missing', answerStatus(404), signature, 'the server answered 404'],
      ['missing-signature', content, answerStatus(404), 'the server answered 404'],
      ['server-error', answerStatus(500), signature, 'the server answered 500'],
      [
        'redirected',
        answerRedirect(`${server.httpUrl}/new/svc-agent`),
        signature,
        'the agent does not follow a redirect to http://',
      ],
      [
        'redirected-file',
        answerRedirect('file:///etc/passwd'),
        signature,
        'the agent does not follow a redirect to file://',
      ],
      [
        'redirected-ever',
        answerRedirect(`${server.httpsUrl}/redirected-ever/svc-agent`),
        signature,
        'more than 5 redirects',
      ],
    ]
    agent.env['SSL_CERT_FILE'] = server.caPath
    for (const [name, file, signatureFile, expected] of table) {
      server.offer(name, file, signatureFile)
      await assertRefused(agent, await update(agent, name), expected, name)
    }
    assert.equal(await agent.version(), OLD)

    function signed(script: string): [Buffer, Buffer] {
      return [Buffer.from(script), key.sign(script)]
    }
  })

  test('[UPD-7] a redirect to https is followed', async () => {
    await using agent = await install()
    agent.env['SSL_CERT_FILE'] = server.caPath
    server.offer(
      'moved',
      answerRedirect(`${server.httpsUrl}/new/svc-agent`),
      answerRedirect(`${server.httpsUrl}/new/svc-agent.minisig`),
    )
    const { status, stderr } = await update(agent, 'moved')
    assert.equal(status, 0, stderr)
    assert.equal(await agent.version(), NEW)
  })

  test('[UPD-7] a URL that is neither https nor loopback is not asked', async () => {
    await using agent = await install()
    for (const url of [
      'http://192.0.2.1/new',
      'ftp://127.0.0.1/new',
      'new',
      'https://u:p@localhost/new',
    ]) {
      await assertRefused(agent, await agent.command('self-update', '--url', url), '--url')
    }
  })

  test('[UPD-8] a Node with no agent inside, and a build with no key, refuse', async () => {
    await using agent = await install()
    const node = pinnedNode()
    await assertRefused(
      agent,
      await update(agent, 'new', '--binary', node),
      'is a plain Node runtime',
    )
    await assertRefused(
      agent,
      await update(agent, 'new', '--binary', '/bin/sh'),
      'is not the executable of an agent',
    )
    await assertRefused(
      agent,
      await update(agent, 'new', '--binary', '/nonexistent/x'),
      'there is no /nonexistent/x',
    )
    const source = join(import.meta.dirname, '../../src/agent/main.ts')
    assert.throws(
      () => execFileSync(node, [source, 'self-update', '--url', server.httpUrl], { stdio: 'pipe' }),
      /carries no release key/,
    )
  })

  test(
    '[UPD-10] root stays root, and sees of the agent what the agent may see',
    ROOT_ONLY,
    async () => {
      await using agent = await install()
      const state = join(agent.directory, 'data/state')
      await mkdir(state, { recursive: true })
      const secret = join(agent.directory, 'secret')
      const round = `version=${OLD} outcome=network at=2026-11-21T12:00:00.000Z\n`
      await writeFile(secret, round, { mode: 0o600 })
      await symlink(secret, join(state, 'last-round'))
      for (const path of [join(agent.directory, 'data'), state])
        await chown(path, STRANGER, STRANGER)
      assert.equal((await update(agent, 'new')).status, 0)
      assert.equal((await stat(agent.binary)).uid, 0)
      assert.match(await agent.readBeside('.update'), /^outcome=unknown$/m)
      await rm(join(state, 'last-round'))
      await writeFile(join(state, 'last-round'), round)
      server.offer('again', newContent, key.sign(newContent))
      await rename(`${agent.binary}.old`, agent.binary)
      assert.equal((await update(agent, 'again')).status, 0)
      assert.match(await agent.readBeside('.update'), /^outcome=network$/m)
    },
  )

  test('[UPD-5] whoever may not replace the executable is told so', ROOT_ONLY, async () => {
    await using agent = await install()
    const stranger = ['--reuid', String(STRANGER), '--regid', String(STRANGER), '--clear-groups']
    const args = ['self-update', '--url', `${server.httpUrl}/new`]
    const { ended } = startProgram(
      pathOfTool('setpriv'),
      [...stranger, agent.binary, ...args],
      agent.env,
    )
    await assertRefused(agent, await ended, `error: cannot replace ${agent.binary}: EACCES`)
  })

  test('[UPD-9] of two at once one is refused', async () => {
    await using agent = await install()
    let release: (() => void) | undefined
    const held: Answer = (response) => {
      release = () => response.writeHead(200).end(newContent)
    }
    server.offer('held', held, key.sign(newContent))
    const first = update(agent, 'held')
    const answer = await waitUntil('its request', () => release)
    const second = await update(agent, 'new')
    assert.equal(second.status, 1)
    assert.match(second.stderr, /another update of .* is under way/)
    answer()
    assert.equal((await first).status, 0)
    assert.equal(await agent.version(), NEW)
  })

  test(
    '[UPD-5] a disk that is full leaves everything as it was',
    { skip: mountRefusal() },
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'small-'))
      execFileSync(pathOfTool('mount'), [
        '-t',
        'tmpfs',
        '-o',
        'size=160m,mode=0755',
        'tmpfs',
        directory,
      ])
      try {
        const agent = await InstalledAgent.createIn(directory, built.paths[0] ?? '')
        await assertRefused(agent, await update(agent, 'new'), 'ENOSPC')
        assert.equal(await agent.version(), OLD)
      } finally {
        execFileSync(pathOfTool('umount'), [directory])
        await rm(directory, { recursive: true })
      }
    },
  )

  test('[UPD-5] killed at any moment it leaves the old or the new one, and can be run again', async () => {
    const content = pretendAgent(NEW)
    server.offer('small', content, key.sign(content))
    for (const [index, delayMs] of killDelaysMs().entries()) {
      await using agent = await install()
      const name = index % 2 === 0 ? 'small' : 'new'
      const running = agent.start('self-update', '--url', `${server.httpUrl}/${name}`)
      await systemClock.sleep(delayMs)
      running.kill('SIGKILL')
      await running.ended
      const version = await agent.version()
      assert.ok(version === OLD || version === NEW, version)
      if (version === NEW) {
        assert.match(await agent.readBeside('.update'), /^new=0\.1\.1$/m)
        assert.ok((await stat(`${agent.binary}.old`)).size > 1_000_000)
        continue
      }
      assert.equal((await update(agent, 'small')).status, 0)
      assert.equal(await agent.version(), NEW)
    }
  })
})

/** The very same file is there, and nothing beside it. */
async function assertRefused(
  agent: InstalledAgent,
  { status, stdout, stderr }: Ended,
  expected: string,
  name = expected,
): Promise<void> {
  assert.equal(status, 1, `${name}: ${stderr}`)
  assert.equal(stdout, '', name)
  assert.ok(stderr.includes(expected), `${name}: ${stderr}`)
  assert.deepEqual(readdirSync(agent.directory), ['svc-agent'], name)
  assert.equal((await stat(agent.binary)).ino, agent.fileId, name)
}

/** Only root may mount, and not everywhere. */
function mountRefusal(): string | false {
  if (process.getuid?.() !== 0) return 'only root can make a small disk'
  try {
    execFileSync(pathOfTool('unshare'), ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
      stdio: 'pipe',
    })
    return false
  } catch {
    return 'nothing may be mounted here'
  }
}

/** Spread over the time that one takes, on a machine that is busy or not. */
function killDelaysMs(): number[] {
  return Array.from({ length: 8 }, (_, index) => 60 * 1.5 ** index * (0.7 + Math.random() * 0.6))
}

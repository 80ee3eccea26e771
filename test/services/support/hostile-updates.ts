// What the agent's user may do to self-update, to the watcher of an update, and to the package's scripts.

import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuiltAgents, buildAgents, pretendAgent } from '../../support/built-agent.ts'
import { MinisignKey } from '../../support/minisign.ts'
import type { Ended } from '../../support/processes.ts'
import { ReleaseServer } from '../../support/release-server.ts'
import { type Ground, SVC } from './hostile-ground.ts'
import type { Try } from './hostile-pairs.ts'

const ROUND = 'version=0.1.1 outcome=completed at=2026-11-21T12:00:00.000Z'
const MARKER = 'old=0.1.0\nnew=0.1.1\noutcome=completed\nat=x\n'

/** One that ends well for root: the new version says nothing true, and the old one is back. */
function watched(title: string, script: string, attack?: string): Try {
  return {
    title,
    async run(ground) {
      await placeUpdate(ground)
      ground.plant(`mkdir $D/state; ${script}`)
      if (attack !== undefined) await ground.attack(attack)
      const { status, stderr } = await watch(ground)
      assert.equal(status, 0, stderr)
      assert.equal(await readFile(ground.path('bin/svc-agent'), 'utf8'), 'old')
      assert.ok(!existsSync(ground.path('bin/svc-agent.update')))
    },
  }
}

const WATCHER_TRIES: readonly Try[] = [
  watched('last-round is a link to what only root reads', 'ln -s $S/last-round $D/state'),
  watched('the state directory is a link to root’s', 'rmdir $D/state; ln -s $S $D/state'),
  watched(
    'last-round is swapped with a link to root’s',
    'echo x >$D/state/last-round; ln -s $S/last-round $D/state/link',
    'ready; swap("$D/state/last-round", "$D/state/link") while 1;',
  ),
  watched(
    'the directory of the executable is locked for ever',
    '',
    'open(my $f, "<", "$B/bin"); flock($f, 2); ready; sleep 110;',
  ),
  watched(
    'the executable is locked for ever',
    '',
    'for my $n ("", ".old", ".lock", ".update") { open(my $f, "<", "$B/bin/svc-agent$n") or next; push @main::f, $f; flock($f, 2) } ready; sleep 110;',
  ),
  {
    title: 'what reads last-round is another process by then',
    async run(ground) {
      await placeUpdate(ground)
      ground.plant(`mkdir $D/state; echo '${ROUND.replace('0.1.1', '0.1.0')}' >$D/state/last-round`)
      // It holds root's pipe, and fills it.
      await ground.attack(`ready; while (1) { for my $p (glob "/proc/[0-9]*") {
        next unless (stat $p)[4] == ${SVC} and $p !~ m{/$$$};
        for my $n (1, 2) { open(my $f, ">", "$p/fd/$n") or next; push @main::held, $f;
          syswrite($f, "x" x 4096) } } select(undef, undef, undef, 0.002) }`)
      const { status, stderr } = await watch(ground)
      assert.equal(status, 0, stderr)
      assert.equal(await readFile(ground.path('bin/svc-agent'), 'utf8'), 'old')
    },
  },
]

const SCRIPT_TRIES: readonly Try[] = [
  purged('links to root’s in a directory that is purged', 'ln -s $S $D/link; ln -s $S $D/out/link'),
  purged(
    'directories are swapped with links while they are purged',
    `mkdir -p $D/many/d; for i in $(seq 60); do mkdir -p $D/many/d/$i/a; done; ln -s $S $D/many/link`,
    'ready; for (1 .. 6000) { swap("$D/many/d", "$D/many/link") }',
  ),
]

const SELF_UPDATE_TRIES: readonly Try[] = [
  {
    title: 'the executable to update is the user’s, in a directory of root’s',
    async run(ground) {
      const mark = ['NODE_SEA', 'FUSE_fce680ab2cc467b6e072b8b5df1996b2:1'].join('_')
      const binary = ground.path('bin/svc-agent')
      await ground.prepare(async () => {
        await mkdir(ground.path('bin'))
        await writeFile(binary, `${await readFile(ground.path('loot/payload'), 'utf8')}# ${mark}\n`)
        chmodSync(binary, 0o755)
        chownSync(binary, SVC, SVC)
      })
      const { status, stderr } = await selfUpdate(ground, 'nothing', '--binary', binary)
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`svc-agent belongs to user ${SVC}`))
      assert.deepEqual(ground.notes(), [])
    },
  },
  {
    title: 'the directory of the executable to update is locked for ever',
    async run(ground) {
      await ground.prepare(() => mkdir(ground.path('bin')))
      await ground.attack('open(my $f, "<", "$B/bin"); flock($f, 2); ready; sleep 110;')
      const { stderr } = await selfUpdate(ground)
      assert.doesNotMatch(stderr, /is under way/)
      assert.match(stderr, /cannot fetch/)
    },
  },
  {
    title: 'the executable to update is in a sticky directory, with names that are taken',
    async run(ground) {
      await ground.prepare(async () => {
        await mkdir(ground.path('bin'))
        chmodSync(ground.path('bin'), 0o1777)
      })
      ground.plant(
        'cd $B/bin; ln -s $S/secret svc-agent.new; cp $P svc-agent.old; ln -s $S/secret svc-agent.lock',
      )
      const { status, stderr } = await selfUpdate(ground)
      assert.equal(status, 1)
      assert.match(stderr, /bin is writable by group or others/)
    },
  },
  {
    title: 'agent.sock is a link to root’s, and last-round too, while root updates',
    async run(ground) {
      const { minisign, server } = await release()
      await ground.prepare(() => mkdir(ground.path('bin')))
      let calls = 0
      const listener = createServer((socket) => {
        calls += 1
        socket.destroy()
      }).unref()
      listener.listen(ground.path('secrets/root.sock'))
      await once(listener, 'listening')
      ground.plant('mkdir $D/state; ln -s $S/last-round $D/state; ln -s $S/root.sock $D/agent.sock')
      const content = pretendAgent('0.1.1')
      server.offer('new', content, minisign.sign(content))
      const { status, stderr, stdout } = await selfUpdate(ground, 'new', '--json')
      assert.equal(status, 0, stderr)
      assert.match(stdout, /"restart": "failed"/)
      assert.match(readFileSync(ground.path('bin/svc-agent.update'), 'utf8'), /^outcome=unknown$/m)
      assert.equal(calls, 0)
      await once(listener.close(), 'close')
    },
  },
]

export const UPDATE_TRIES: readonly Try[] = [
  ...WATCHER_TRIES,
  ...SCRIPT_TRIES,
  ...SELF_UPDATE_TRIES,
]

interface Release {
  readonly minisign: MinisignKey
  readonly built: BuiltAgents
  readonly server: ReleaseServer
}

let made: Promise<Release> | undefined

/** Built once: it takes a while. */
function release(): Promise<Release> {
  made ??= (async () => {
    const minisign = await MinisignKey.create()
    const built = await buildAgents(['0.1.0'], minisign.publicKey)
    return { minisign, built, server: await ReleaseServer.start() }
  })()
  return made
}

export async function forgetRelease(): Promise<void> {
  const parts = await made
  await parts?.server[Symbol.asyncDispose]()
  await parts?.built[Symbol.asyncDispose]()
  await parts?.minisign[Symbol.asyncDispose]()
}

/** By root, of the executable in bin/, which is put there when nothing is. */
async function selfUpdate(ground: Ground, offer = 'nothing', ...args: string[]): Promise<Ended> {
  const { built, server } = await release()
  const own = join(ground.path('bin'), 'updater')
  const binary = ground.path('bin/svc-agent')
  for (const path of existsSync(binary) ? [own] : [binary]) {
    await link(built.paths[0] ?? '', path).catch(() => copyFile(built.paths[0] ?? '', path))
    await chmod(path, 0o755)
  }
  const program = existsSync(own) ? own : binary
  const ended = await ground.rootRuns(program, [
    'self-update',
    '--url',
    `${server.httpUrl}/${offer}`,
    ...args,
  ])
  await rm(own, { force: true })
  return ended
}

async function placeUpdate(ground: Ground): Promise<void> {
  await mkdir(ground.path('bin'))
  for (const [suffix, text] of [
    ['', 'new'],
    ['.old', 'old'],
    ['.update', MARKER],
  ] as const) {
    await writeFile(`${ground.path('bin/svc-agent')}${suffix}`, text)
  }
}

function watch(ground: Ground): Promise<Ended> {
  return ground.rootRuns(deployed('agent/svc-agent-watch-update'), [ground.path('bin/svc-agent')], {
    SVC_AGENT_RESTART_COMMAND: 'true',
    SVC_AGENT_PID_COMMAND: 'echo 42',
    SVC_AGENT_WATCH_SECONDS: '2',
  })
}

/** The package's own script, over the directories of this host. */
function purged(title: string, script: string, attack?: string): Try {
  return {
    title,
    async run(ground) {
      const text = await readFile(deployed('debian/svc-agent/postrm'), 'utf8')
      const moved = text
        .replaceAll('/var/lib/svc-agent', ground.dataDir)
        .replaceAll('/etc/svc-agent', ground.path('etc-svc-agent'))
        .replace('deb-systemd-helper', 'true')
      assert.ok(!/\/(?:var\/lib|etc)\/svc-agent/.test(moved))
      const postrm = ground.path('bin/postrm')
      await mkdir(ground.path('bin'))
      writeFileSync(postrm, moved.replaceAll('systemctl', 'true'), { mode: 0o755 })
      ground.plant(script)
      if (attack !== undefined) await ground.attack(attack)
      await ground.rootRuns(postrm, ['purge'])
      if (attack === undefined) assert.ok(!existsSync(ground.dataDir))
    },
  }
}

/** Beside the programs that are tried. */
function deployed(path: string): string {
  return fileURLToPath(new URL(`../../../deploy/${path}`, import.meta.url))
}

// What the agent's user may do to the other commands that root starts: targets, data directory, settings.

import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  readdirSync,
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import { errnoCode } from '../../../src/platform/errors.ts'
import { FakeHub } from '../../fakes/hub-server.ts'
import { manifestEntry } from '../../support/agent-host.ts'
import { pathOfProgram, type Variables } from '../../support/processes.ts'
import { type Ground, SVC, VICTIM } from './hostile-ground.ts'
import type { Try } from './hostile-pairs.ts'
import { APPLIED } from './hostile-sockets.ts'

/** Nobody answers there. */
const NO_HUB: Variables = {
  SVC_SERVER_URL: 'https://127.0.0.1:1',
  SVC_SERVER_MTLS_URL: 'https://127.0.0.1:1',
  SVC_AGENT_ROLE: 'web',
  SVC_AGENT_HOSTNAME: 'web-1',
  SVC_ENROLL_TOKEN: 'svct_token',
}

/** Its own targets, whose reload tells what it was run as. */
const OWN_TARGETS = `mkdir $D/targets.d $D/place; cp $P $D/payload
printf 'nome = "site"\\nreload = ["%s"]\\n[[file]]\\npath = "%s"\\ncontent = ["cert"]\\n' \
  $D/payload $D/place/site.pem >$D/targets.d/own.toml`

const TARGET_TRIES: readonly Try[] = [
  ownTarget('a target of its own runs a program', {}),
  ownTarget('a data directory with the group of root', {
    prepare: (ground) => chownSync(ground.dataDir, SVC, 0),
  }),
  ownTarget('a setgid data directory', {
    prepare: (ground) => {
      chownSync(ground.dataDir, SVC, SVC)
      chmodSync(ground.dataDir, 0o2755)
    },
  }),
  ownTarget('a descriptor that root’s shell left open', {
    wrap: 'exec 5<"$0"; exec "$@"',
  }),
  {
    title: 'a target of its own names a place of root’s',
    async run(ground) {
      ground.plant(`mkdir $D/targets.d; cp $B/targets.d/a-site.toml $D/targets.d`)
      const result = await ground.apply(ownTargets(ground))
      assert.deepEqual(result, { site: 'reverted' })
      assert.deepEqual(readdirSync(ground.path('tls')), [])
    },
  },
  {
    title: 'targets.d is a link to root’s',
    async run(ground) {
      ground.plant('ln -s $B/targets.d $D/targets.d')
      await ground.apply(ownTargets(ground))
      assert.deepEqual(readdirSync(ground.path('tls')), [])
    },
  },
  {
    title: 'targets.d is swapped with a link to root’s',
    async run(ground) {
      ground.plant(`${OWN_TARGETS}; ln -s $B/targets.d $D/link`)
      await ground.attack('ready; swap("$D/targets.d", "$D/link") while 1;')
      for (let round = 0; round < 2; round += 1) await ground.apply(ownTargets(ground))
      assert.deepEqual(readdirSync(ground.path('tls')), [])
    },
  },
  rootsTarget('a place in the data directory', (g) => place(join(g.dataDir, 'x.pem')), ''),
  rootsTarget('a place in a sticky directory', (g) => place(g.path('loot/x.pem')), ''),
  {
    title: 'a place below the user’s directory is swapped with a link',
    home: 'users',
    async run(ground) {
      await ground.prepare(async () => mkdirSync(ground.path('home/tls')))
      await ground.writeTarget('c-third', place(ground.path('home/tls/secret')))
      ground.plant('ln -s $S $B/home/link')
      await ground.attack('ready; swap("$B/home/tls", "$B/home/link") while 1;')
      for (let round = 0; round < 2; round += 1) {
        assert.equal((await ground.apply())['third'], undefined)
      }
      // Root's own, and no try of the user's, who goes on swapping meanwhile.
      await ground.prepare(async () => giveHomeTls(ground))
    },
  },
  rootsTarget(
    'a password file that is a link to a secret',
    (g) =>
      `nome = "site"\n[[file]]\npath = "${g.path('tls/x.p12')}"\nformat = "pkcs12"\npassword_file = "${g.dataDir}/pw"\n`,
    'ln -s $S/secret $D/pw',
  ),
  rootsTarget(
    'a reload that lies in its directory',
    (g) => `reload = ["${g.dataDir}/payload"]\n${place(g.path('tls/x.pem'))}`,
    'cp $P $D/payload',
  ),
  {
    title: 'root’s state in its directory is a link',
    async run(ground) {
      ground.plant('ln -s $S $D/state-of-root')
      const { refused } = await ground.apply({
        SVC_AGENT_TARGETS_STATE_DIR: join(ground.dataDir, 'state-of-root'),
      })
      assert.match(refused ?? '', /cannot keep the state of targets/)
    },
  },
  {
    title: 'root’s lock is held for ever',
    async run(ground) {
      assert.deepEqual(await ground.apply(), APPLIED)
      await ground.attack(
        `open(my $f, "+<", "$D-targets/lock") || open($f, "<", "$D-targets"); flock($f, 2) if $f; ready; sleep 110;`,
      )
      assert.deepEqual(await ground.apply(), { site: 'up_to_date', other: 'up_to_date' })
    },
  },
  {
    title: 'the agent’s lock is held for ever',
    async run(ground) {
      await ground.attack('open(my $f, "+>", "$D/agent.lock"); flock($f, 2); ready; sleep 110;')
      assert.deepEqual(await ground.apply(), APPLIED)
    },
  },
]

const COMMANDS = [['identity'], ['status'], ['check'], ['poll'], ['rotate'], ['run', '--once']]

const DIRECTORY_TRIES: readonly Try[] = [
  ...[...COMMANDS, ['targets', 'check'], ['enroll', '--replace']].map((args): Try => {
    return {
      title: `\`${args.join(' ')}\` finds links to root’s files in every place`,
      async run(ground) {
        ground.plant(`mv $D/identity $D/gone; ln -s $S $D/identity; mv $D/out $D/away
          ln -s $S $D/out; ln -s $S $D/state; ln -s $S $D/hooks; ln -s $S/secret $D/agent.lock
          ln -s $S/secret $D/agent.sock`)
        await ground.root(args, NO_HUB)
      },
    }
  }),
  {
    title: 'the data directory is a link to a directory of root’s',
    home: 'users',
    run: (ground) => enrollsAt(ground, 'mv $D $B/home/gone; ln -s $S $D'),
  },
  {
    title: 'the data directory is a link to a directory of another user’s',
    home: 'users',
    async run(ground) {
      await ground.prepare(async () => {
        mkdirSync(ground.path('victims'))
        chownSync(ground.path('victims'), VICTIM, VICTIM)
      })
      await enrollsAt(ground, 'mv $D $B/home/gone; ln -s $B/victims $D')
    },
  },
  {
    title: 'the data directory is swapped with a link to root’s',
    home: 'users',
    async run(ground) {
      ground.plant('mkdir $B/home/empty; rm -r $D; mv $B/home/empty $D; ln -s $S $B/home/link')
      await ground.attack('ready; swap($D, "$B/home/link") while 1;')
      for (let round = 0; round < 3; round += 1) await ground.root(['enroll'], NO_HUB)
    },
  },
  {
    title: 'the data directory is swapped with a link while root applies',
    home: 'users',
    async run(ground) {
      ground.plant('ln -s $S $B/home/link')
      await ground.attack('ready; swap($D, "$B/home/link") while 1;')
      for (let round = 0; round < 2; round += 1) await ground.apply()
    },
  },
  {
    title: 'the data directory is missing, in a directory of the user’s',
    home: 'users',
    run: (ground) => enrollsAt(ground, 'mv $D $B/home/gone'),
  },
  {
    title: 'the data directory is missing, in a sticky directory',
    async run(ground) {
      const missing = { ...NO_HUB, SVC_AGENT_DATA_DIR: ground.path('loot/new') }
      assert.equal((await ground.root(['enroll'], missing)).status, 1)
      assert.ok(!existsSync(ground.path('loot/new')))
    },
  },
  {
    title: 'the token file is a link to a secret',
    home: 'users',
    async run(ground) {
      const heard: string[] = []
      const hub = createHttpServer((request, response) => {
        request.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
        request.on('end', () => response.writeHead(401).end('{}'))
      })
        .listen(0, '127.0.0.1')
        .unref()
      await once(hub, 'listening')
      ground.plant('rm -r $D/identity; ln -s $S/secret $B/home/token')
      const { SVC_ENROLL_TOKEN: _, ...settings } = NO_HUB
      const { stderr } = await ground.root(['enroll'], {
        ...settings,
        SVC_SERVER_URL: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
        SVC_ENROLL_TOKEN_FILE: ground.path('home/token'),
      })
      hub.closeAllConnections()
      hub.close()
      assert.deepEqual(heard, [], 'it was sent to the hub')
      assert.match(stderr, /home\/token: permission denied/)
    },
  },
  {
    title: 'the root certificate is a link to root’s',
    home: 'users',
    async run(ground) {
      ground.plant('rm -r $D/identity; ln -s $S/ca.pem $B/home/ca')
      const ca = { SVC_SERVER_CA_PATH: ground.path('home/ca') }
      const { stderr } = await ground.root(['enroll'], { ...NO_HUB, ...ca })
      assert.match(stderr, /home\/ca: permission denied/)
    },
  },
  {
    title: 'it looks into every process while root’s commands run',
    async run(ground) {
      await ground.attack(`ready; while (1) { for my $p (glob "/proc/[0-9]*") {
        for my $n (qw(environ mem maps)) { open(my $f, "<", "$p/$n") or next;
          sysread($f, my $x, 65536); next unless $x =~ /CANARY/;
          open(my $l, ">>", "$L/spied"); print $l $x; close $l } } }`)
      await ground.root(['status'])
      await ground.apply()
    },
  },
  {
    title: 'hooks run in a round that root starts',
    async run(ground) {
      await using hub = await FakeHub.start()
      hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
      const settings = {
        ...NO_HUB,
        SVC_SERVER_URL: hub.enrollUrl,
        SVC_SERVER_MTLS_URL: hub.mtlsUrl,
        SVC_SERVER_CA_PATH: ground.path('hub.pem'),
        SVC_ENROLL_TOKEN: 'svct_token',
      }
      const { writeFile } = await import('node:fs/promises')
      await ground.prepare(() => writeFile(ground.path('hub.pem'), hub.ca.rootPem))
      ground.plant(`rm -r $D/*; mkdir -p $D/hooks/post-csr-cert.d; cp $P $D/hooks/post-csr-cert
        ln -s /usr/bin/id $D/hooks/post-csr-cert.d/link; cp $P $D/hooks/post-csr-cert.d/more`)
      assert.equal((await ground.root(['enroll'], settings)).status, 0)
      hub.entregas = [manifestEntry()]
      await ground.root(['run', '--once'], settings)
      assert.equal(ground.notes().length, 2)
    },
  },
]

export const COMMAND_TRIES: readonly Try[] = [...TARGET_TRIES, ...DIRECTORY_TRIES]

function ownTargets(ground: Ground): Variables {
  return { SVC_AGENT_TARGETS_DIR: join(ground.dataDir, 'targets.d') }
}

/** It may do that, with its own rights. */
function ownTarget(
  title: string,
  how: { readonly prepare?: (ground: Ground) => void; readonly wrap?: string },
): Try {
  return {
    title,
    async run(ground) {
      ground.plant(OWN_TARGETS)
      await ground.prepare(async () => how.prepare?.(ground))
      const shell = ['-c', how.wrap ?? 'exec "$@"', ground.path('secrets/secret')]
      const command = [pathOfProgram('svc-agent'), 'targets', 'apply', '--now']
      await ground.rootRuns('/bin/sh', [...shell, ...command], ownTargets(ground))
      assert.equal(ground.notes().length, 1)
    },
  }
}

function place(path: string): string {
  return `nome = "site"\n[[file]]\npath = "${path}"\ncontent = ["cert"]\n`
}

/** Root's target is refused, or put back, and nothing of the user's is run. */
function rootsTarget(title: string, toml: (ground: Ground) => string, script: string): Try {
  return {
    title,
    async run(ground) {
      await ground.writeTarget('a-site', toml(ground))
      ground.plant(script)
      assert.deepEqual(await ground.apply(), { site: 'reverted', other: 'applied' })
      assert.deepEqual(ground.notes(), [])
    },
  }
}

async function enrollsAt(ground: Ground, script: string): Promise<void> {
  ground.plant(script)
  const { status, stderr } = await ground.root(['enroll'], NO_HUB)
  assert.equal(status, 1)
  assert.match(stderr, /root does not work in .*: user \d+ can replace it/)
}

function giveHomeTls(ground: Ground): void {
  for (;;) {
    for (const name of ['home/tls', 'home/link']) {
      const directory = openDirectory(ground.path(name))
      if (directory === undefined) continue
      fchownSync(directory, SVC, SVC)
      closeSync(directory)
      return
    }
  }
}

/** Undefined when the path is a link, as it may be at one moment and not at the next. */
function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    assert.match(errnoCode(error) ?? '', /^(?:ENOTDIR|ELOOP)$/)
    return undefined
  }
}

// What may answer where root looks for the agent that runs.

import assert from 'node:assert/strict'
import { chmodSync, existsSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import type { Ground } from './hostile-ground.ts'
import type { Try } from './hostile-pairs.ts'

export const APPLIED = { site: 'applied', other: 'applied' }

/** An agent of the user's own making: `$c` is root's connection. */
function fakeAgent(answer: string, after = ''): string {
  return `use Socket; $SIG{PIPE} = "IGNORE";
    unlink "$D/agent.sock"; socket(my $s, PF_UNIX, SOCK_STREAM, 0);
    bind($s, sockaddr_un("$D/agent.sock")); listen($s, 9); ${after} ready;
    while (accept(my $c, $s)) { sysread($c, my $asked, 65536); ${answer}; close $c }`
}

async function listenAsRoot(
  ground: Ground,
  name: string,
): Promise<{ server: Server; count: () => number }> {
  let count = 0
  const server = createServer((socket) => {
    count += 1
    socket.destroy()
  }).unref()
  await ground.prepare(async () => {
    server.listen(ground.path(name))
    await once(server, 'listening')
    chmodSync(ground.path(name), 0o600)
  })
  return { server, count: () => count }
}

export const SOCKET_TRIES: readonly Try[] = [
  {
    title: 'agent.sock is a link to a socket of root’s',
    async run(ground) {
      const { server, count } = await listenAsRoot(ground, 'secrets/root.sock')
      ground.plant('ln -s $S/root.sock $D/agent.sock')
      assert.deepEqual(await ground.apply(), APPLIED)
      assert.equal(count(), 0)
      await ground.prepare(async () => once(server.close(), 'close'))
    },
  },
  {
    title: 'agent.sock is swapped with a link to a socket of root’s',
    async run(ground) {
      const { server, count } = await listenAsRoot(ground, 'secrets/root.sock')
      ground.plant('ln -s $S/root.sock $D/link')
      await ground.attack(
        fakeAgent('', 'if (fork) { ready; swap("$D/agent.sock", "$D/link") while 1 }'),
      )
      for (let round = 0; round < 2; round += 1) await ground.apply()
      assert.equal(count(), 0)
      await ground.prepare(async () => once(server.close(), 'close'))
    },
  },
  {
    title: 'agent.sock asks who is calling',
    async run(ground) {
      await ground.attack(
        fakeAgent(`open(my $f, ">>", "$L/who-peer");
          my (undef, $u, $g) = unpack("lLL", getsockopt($c, SOL_SOCKET, 17)); print $f "$u $g\\n";
          close $f; syswrite($c, "{\\"ok\\":true,\\"result\\":null}\\n")`),
      )
      assert.deepEqual(await ground.apply(), APPLIED)
      assert.equal(ground.notes().length, 2)
    },
  },
  {
    title: 'agent.sock signals, traces and reads the process that calls',
    async run(ground) {
      await ground.attack(
        fakeAgent(`my ($p) = unpack("lLL", getsockopt($c, SOL_SOCKET, 17));
          my @done; push @done, "signal $_" for grep { kill $_, $p } qw(KILL STOP TERM CONT);
          push @done, "trace" if syscall($number == 316 ? 101 : 117, 16, $p, 0, 0) == 0;
          for my $n (qw(mem environ maps auxv syscall)) {
            push @done, $n if open(my $f, "<", "/proc/$p/$n") and sysread($f, my $x, 10) }
          for my $n (qw(mem oom_score_adj coredump_filter clear_refs)) {
            push @done, "write $n" if open(my $f, ">", "/proc/$p/$n") }
          push @done, $_ for grep { readlink "/proc/$p/$_" } qw(exe cwd root fd/1);
          if (@done) { open(my $f, ">>", "$L/tampered"); print $f "@done\\n"; close $f }
          syswrite($c, "{\\"ok\\":true,\\"result\\":null}\\n")`),
      )
      assert.deepEqual(await ground.apply(), APPLIED)
      assert.ok(!existsSync(ground.path('loot/tampered')))
    },
  },
  {
    title: 'agent.sock answers without an end',
    async run(ground) {
      await ground.attack(fakeAgent('1 while syswrite($c, "x" x 65536)'))
      assert.deepEqual(await ground.apply(), APPLIED)
    },
  },
  {
    title: 'agent.sock never answers',
    async run(ground) {
      await ground.attack(fakeAgent('sleep 110'))
      assert.deepEqual(await ground.apply(), APPLIED)
    },
  },
  {
    title: 'agent.sock answers with a bomb',
    async run(ground) {
      await ground.attack(fakeAgent('syswrite($c, "[" x 60000 . "\\n")'))
      assert.deepEqual(await ground.apply(), APPLIED)
    },
  },
  {
    title: 'agent.sock answers what a terminal would obey',
    async run(ground) {
      const evil = String.raw`{\"ok\":false,\"code\":\"x\",\"message\":\"\\u001b]0;owned\\u0007\\u009b2J\"}\n`
      await ground.attack(fakeAgent(`syswrite($c, "${evil}")`))
      for (const args of [['status'], ['targets', 'apply']]) {
        const { stdout, stderr } = await ground.root(args, { SVC_LOG_FORMAT: 'text' })
        // oxlint-disable-next-line no-control-regex -- that is the point
        assert.doesNotMatch(stdout + stderr, /[\u0007\u009b]|\u001b\]/)
      }
    },
  },
]

// What the agent's user may put where root reads a pair.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOfProgram } from '../../support/processes.ts'
import type { Ground } from './hostile-ground.ts'

export interface Try {
  readonly title: string
  readonly home?: 'users'
  readonly run: (ground: Ground) => Promise<void>
}

/** Root is to go on, and to serve the other delivery. */
function planted(title: string, script: string, result = 'waiting'): Try {
  return {
    title,
    async run(ground) {
      ground.plant(script)
      assert.deepEqual(await ground.apply(), { site: result, other: 'applied' })
    },
  }
}

/** While something is swapped all the time: whatever comes out, it is the user's own. */
function raced(title: string, script: string, prepare = ''): Try {
  return {
    title,
    async run(ground) {
      ground.plant(prepare)
      await ground.attack(script)
      for (let round = 0; round < 2; round += 1) await ground.apply()
    },
  }
}

/** A text of the user's own, which no shell could make. */
function written(
  title: string,
  file: string,
  content: (ground: Ground) => string,
  result = 'waiting',
): Try {
  return {
    title,
    async run(ground) {
      const path = join(ground.dataDir, 'out/.versions/site/000001', file)
      await ground.prepare(async () => writeFileSync(path, content(ground)))
      assert.deepEqual(await ground.apply(), { site: result, other: 'applied' })
    },
  }
}

export const PAIR_TRIES: readonly Try[] = [
  planted('cert.pem is a link to root’s certificate', 'ln -sf $S/cert.pem $V/cert.pem'),
  planted('key.pem is a link to root’s key', 'ln -sf $S/key.pem $V/key.pem'),
  planted('delivery.json is a link to a secret', 'ln -sf $S/secret $V/delivery.json'),
  planted('the version is a link to root’s pair', 'rm -r $V; ln -s $S $V'),
  planted('`current` leads out of the versions', 'ln -sfn ../../../../secrets $V/../current'),
  planted('`current` is an absolute path', 'ln -sfn $S $V/../current'),
  planted('the versions are a link', 'rm -r $D/out/.versions/site; ln -s $S $D/out/.versions/site'),
  planted('a hard link to root’s key', 'ln -f $S/key.pem $V/key.pem', 'applied'),
  planted('a FIFO for a key', 'rm $V/key.pem; mkfifo $V/key.pem'),
  planted('an endless device for a certificate', 'ln -sf /dev/zero $V/cert.pem'),
  planted('a key of many gigabytes', 'truncate -s 900G $V/key.pem'),
  planted('a directory for a key', 'rm $V/key.pem; mkdir $V/key.pem'),
  planted('root’s environment for a key', 'ln -sf /proc/self/environ $V/key.pem'),
  planted('root’s memory for a certificate', 'ln -sf /proc/self/mem $V/cert.pem'),
  planted('root’s standard input for a key', 'ln -sf /proc/self/fd/0 $V/key.pem'),
  planted('root’s root directory for a version', 'rm -r $V; ln -s /proc/self/root$S $V'),
  planted('links that never end', 'rm -r $V; ln -s 000001 $V'),
  {
    title: 'root’s working directory for a version',
    async run(ground) {
      ground.plant('rm -r $V; ln -s /proc/self/cwd $V')
      const { stdout } = await ground.rootRuns('/usr/bin/env', [
        '-C',
        ground.path('secrets'),
        pathOfProgram('svc-agent'),
        'targets',
        'apply',
        '--now',
      ])
      assert.match(stdout, /^site .*: waiting, .*\nother .*: applied/)
    },
  },
  {
    title: 'out is a link to root’s',
    async run(ground) {
      ground.plant('mv $D/out $D/gone; ln -s $S $D/out')
      assert.deepEqual(await ground.apply(), { site: 'waiting', other: 'waiting' })
    },
  },
  {
    title: 'the trusted roots are a link to root’s',
    async run(ground) {
      ground.plant('mv $D/identity $D/gone; ln -s $S $D/identity')
      assert.deepEqual(await ground.apply(), { site: 'waiting', other: 'waiting' })
    },
  },
  written('a record that is a bomb', 'delivery.json', () => '['.repeat(1_000_000)),
  written('a delivery whose name leads elsewhere', 'delivery.json', () =>
    JSON.stringify({
      delivery_id: '../../../etc/cron.d/x',
      cargo_id: '',
      version: 1,
      request_id: '',
      renewal: null,
    }),
  ),
  written('a thousand certificates', 'cert.pem', ({ materials }) =>
    materials.own.leafPem.repeat(1000),
  ),
  written('beginnings without an end', 'cert.pem', () =>
    '-----BEGIN CERTIFICATE-----\n'.repeat(16),
  ),
  written('a key that takes years to read', 'key.pem', () => endlessKeyPem()),
  written(
    'settings of a server between the blocks',
    'cert.pem',
    ({ materials }) => `load_module evil.so;\n${materials.own.leafPem}user root;\n`,
    'applied',
  ),
  raced(
    'key.pem is swapped with a link to root’s',
    'ready; swap("$V/key.pem", "$V/link") while 1;',
    'ln -s $S/key.pem $V/link',
  ),
  raced(
    'all files are swapped with links to root’s pair',
    'ready; while (1) { swap("$V/$_.pem", "$V/$_.link") for qw(cert key) }',
    'for f in cert key; do ln -s $S/$f.pem $V/$f.link; done',
  ),
  raced(
    'the version is swapped with a link to root’s pair',
    'ready; swap($V, "$V-link") while 1;',
    'ln -s $S $V-link',
  ),
  raced(
    'out is swapped with a link',
    'ready; swap("$D/out", "$D/link") while 1;',
    'ln -s $S $D/link',
  ),
  raced(
    'key.pem is swapped with a FIFO',
    'ready; swap("$V/key.pem", "$V/pipe") while 1;',
    'mkfifo $V/pipe',
  ),
  raced(
    'key.pem grows without an end',
    'open(my $f, ">>", "$V/key.pem"); ready; for (1 .. 2000) { syswrite($f, "x" x 65536) } sleep 110;',
  ),
]

/** PKCS#8 of DSA: OpenSSL raises a number of tens of thousands of digits to a power as long before it says anything. */
function endlessKeyPem(): string {
  const odd = (bytes: number): Buffer => Buffer.alloc(bytes, 0xd7)
  const parameters = element(0x30, integer(odd(8000)), integer(odd(32)), integer(Buffer.of(2)))
  const algorithm = element(0x30, element(6, Buffer.from('2a8648ce380401', 'hex')), parameters)
  const der = element(0x30, integer(Buffer.of()), algorithm, element(4, integer(odd(7999))))
  const text = der.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`
}

function integer(bytes: Buffer): Buffer {
  return element(2, Buffer.of(0), bytes)
}

function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const { length } = body
  const sizes = length < 128 ? [length] : length < 65_536 ? [0x82, length >> 8, length & 255] : []
  return Buffer.concat([Buffer.of(tag, ...sizes), body])
}

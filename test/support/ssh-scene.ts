// Keys of hosts and of an SSH CA, and a hub whose rules know them.

import { openProofScene, type ProofScene, soon } from './proof-scene.ts'
import { createSshKeys, type SshKey, type SshKeys } from './ssh-keys.ts'
import { SshReader, sshString } from '../../src/ssh/wire.ts'

export const NAMESPACE = 'enroll@cartorio'

export interface SshScene extends AsyncDisposable {
  readonly scene: ProofScene
  readonly keys: SshKeys
  readonly host: SshKey
  readonly other: SshKey
  readonly authority: SshKey
  /** By a new rule, until the next one. */
  readonly trust: (...lines: readonly string[]) => ReturnType<ProofScene['makeRule']>
  /** Signed by ssh-keygen. */
  readonly prove: (key: SshKey, shown?: Shown) => string
}

export interface Shown {
  readonly statement?: object
  readonly namespace?: string
  readonly certificate?: Buffer
  readonly change?: (sshsig: Buffer) => Buffer
}

export async function openSshScene(): Promise<SshScene> {
  const keys = createSshKeys()
  const scene = await openProofScene()
  let rule: string | undefined
  return {
    scene,
    keys,
    host: keys.make('ed25519'),
    other: keys.make('ed25519'),
    authority: keys.make('ed25519'),
    trust: async (...lines) => {
      scene.clock.set(soon())
      if (rule !== undefined) await scene.admin.endJoinRule({ join_rule: rule })
      const ssh = { known_hosts: lines.join('\n') }
      const made = await scene.makeRule({ method: 'ssh', ssh })
      rule = made.name
      return made
    },
    prove: (key, shown = {}) => {
      const { statement = scene.state(), namespace = NAMESPACE, certificate, change } = shown
      const message = JSON.stringify(statement)
      const made = keys.sign(key, namespace, message)
      const sshsig = change === undefined ? made : change(made)
      const parts = [message, sshsig, ...(certificate ? [certificate] : [])]
      return `svcp.ssh.${parts.map(encode).join('.')}`
    },
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]()
      keys[Symbol.dispose]()
    },
  }
}

export function encode(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString('base64url')
}

/** With the last field, the signature, changed. */
export function withSignature(
  sshsig: Buffer,
  change: (name: string, bytes: Buffer) => readonly [string, Uint8Array],
): Buffer {
  const reader = new SshReader(sshsig)
  reader.bytes(10)
  for (let field = 0; field < 4; field += 1) reader.string()
  const earlier = sshsig.subarray(0, reader.position)
  const inner = new SshReader(reader.string())
  const [name, bytes] = change(inner.text(), inner.string())
  return Buffer.concat([earlier, sshString(Buffer.concat([sshString(name), sshString(bytes)]))])
}

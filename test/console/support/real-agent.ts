// A host with the real agent, whose recipient is in the hub: secrets are sealed for it, and it opens them.

import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentEnvironment } from '../../support/agent-environment.ts'
import type { TestHub } from '../../support/hub.ts'
import { runProgram } from '../../support/processes.ts'

export interface RealAgent {
  poll(): Promise<void>
  /** As `svc-agent identity` prints it on the host. */
  readFingerprint(): Promise<string>
  /** What it has installed below that name. */
  readFile(name: string): Promise<string>
}

export async function enrollRealAgent(hub: TestHub, hostname: string): Promise<RealAgent> {
  const dataDir = join(hub.directory, `agent-${hostname}`)
  await mkdir(dataDir)
  const environment = agentEnvironment(hub, { hostname, dataDir })
  const run = async (args: readonly string[], more = {}): Promise<string> => {
    const { status, stdout, stderr } = await runProgram('svc-agent', args, {
      ...environment,
      ...more,
    })
    assert.equal(status, 0, stderr)
    return stdout
  }
  await run(['enroll'], { SVC_ENROLL_TOKEN: await hub.createToken({ hostname }) })
  const poll = async (): Promise<void> => void (await run(['run', '--once']))
  await poll()
  return {
    poll,
    readFingerprint: async () => {
      const identity = await run(['identity'])
      const [fingerprint = ''] = /SHA256:[A-Za-z0-9+/]{43}/.exec(identity) ?? []
      assert.notEqual(fingerprint, '', identity)
      return fingerprint
    },
    readFile: (name) => readFile(join(dataDir, 'out', name), 'utf8'),
  }
}

// What the hub last said of this host's identity: it lets it in, or why not. Certificates on disk do not show that they are
// revoked or superseded; only the hub knows. docs/protocol.md AGT-50.

import { join } from 'node:path'
import { Check } from 'typebox/value'
import { type Static, Type } from 'typebox'
import type { Clock } from '../../platform/clock.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { HubRefusal } from './request.ts'

/** What a 401 of the mTLS port says of the certificate that it was asked with. */
const IDENTITY_REFUSALS = [
  'agent_revoked',
  'certificate_superseded',
  'certificate_expired',
  'agent_not_registered',
] as const satisfies readonly WireErrorCode[]
export type IdentityRefusal = (typeof IDENTITY_REFUSALS)[number]

const HubVerdictFile = Type.Object({
  /** Of the certificate, lower-case hex. */
  sha256: Type.String(),
  /** Null when the hub let it in. */
  code: Type.Union([Type.Null(), Type.Enum([...IDENTITY_REFUSALS])]),
  at: Type.String(),
})
export type HubVerdict = Static<typeof HubVerdictFile>

/** How old the time of an unchanged verdict on disk may get. */
const REWRITE_AFTER_MS = 600_000
const BYTES_MAX = 4096

export class HubVerdicts {
  readonly #clock: Clock
  readonly #stateDir: string
  #last: HubVerdict | undefined
  #written: HubVerdict | undefined

  constructor(clock: Clock, stateDir: string) {
    this.#clock = clock
    this.#stateDir = stateDir
  }

  /** Of this process; undefined until the hub has answered. */
  get last(): HubVerdict | undefined {
    return this.#last
  }

  /** Anything but success and these refusals may come from whatever stands between the agent and the hub. */
  note(sha256: string, answer: { readonly ok: true } | HubRefusal): void {
    const code = answer.ok ? null : refusalOf(answer)
    if (code === undefined) return
    this.#last = { sha256, code, at: this.#clock.now().toISOString() }
  }

  /** For a `status` while no agent runs. */
  async keep(): Promise<void> {
    const [last, written] = [this.#last, this.#written]
    if (last === undefined || (written !== undefined && isRecent(written, last))) return
    await replaceFile(pathIn(this.#stateDir), `${JSON.stringify(last)}\n`, 0o600)
    this.#written = last
  }
}

/** What the last process noted; undefined when there is nothing that can be read. */
export async function readHubVerdict(stateDir: string): Promise<HubVerdict | undefined> {
  try {
    const verdict: unknown = JSON.parse(
      (await readTextIfPresent(pathIn(stateDir), BYTES_MAX)) ?? 'null',
    )
    return Check(HubVerdictFile, verdict) ? verdict : undefined
  } catch {
    // It is shown to people only, and written again soon.
    return undefined
  }
}

function refusalOf({ status, code }: HubRefusal): IdentityRefusal | undefined {
  return status === 401 ? IDENTITY_REFUSALS.find((one) => one === code) : undefined
}

function isRecent(written: HubVerdict, last: HubVerdict): boolean {
  const isSame = written.sha256 === last.sha256 && written.code === last.code
  return isSame && Math.abs(Date.parse(last.at) - Date.parse(written.at)) < REWRITE_AFTER_MS
}

function pathIn(stateDir: string): string {
  return join(stateDir, 'hub-verdict.json')
}

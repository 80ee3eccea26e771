// What `adopt` would do about one set of files: the target that takes them over, and who is stopped.

import type { Certificate } from '../../pki/certificates.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import type { PemPart, TargetProbe } from '../targets/target.ts'
import type { ServiceKind } from './certificate-use.ts'
import type { Renewer } from './renewers/renewer.ts'

export interface ProposedFile {
  readonly path: string
  /** Of what is there now. */
  readonly sha256: string
  /** What the name is a link to now; undefined for a plain file. */
  readonly link: string | undefined
  readonly content: readonly PemPart[]
  readonly owner: string
  readonly group: string
  readonly mode: number
}

/** `open`: not taken over yet. `target`: a target of the host has these files already. */
export type ProposalState = 'open' | 'target' | 'adopted' | 'unfinished'

export interface Proposal {
  /** Of the target's file, without `.toml`. */
  readonly id: string
  /** Of the load that the hub is to deliver. */
  readonly name: ArtefactName
  readonly services: readonly ServiceKind[]
  readonly state: ProposalState
  readonly targetPath: string
  readonly targetText: string
  readonly files: readonly ProposedFile[]
  /** The certificate that is there now; undefined when there is none to be read. */
  readonly leaf: Certificate | undefined
  readonly reload: readonly string[]
  readonly probes: readonly TargetProbe[]
  readonly renewers: readonly Renewer[]
  /** Why it is not taken over. */
  readonly problems: readonly string[]
  /** What a person should know, and may go on. */
  readonly notes: readonly string[]
}

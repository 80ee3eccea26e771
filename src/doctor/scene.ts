// What the checks look at. Each look is taken once, when the first check asks for it, and throws Unchecked when it cannot be taken.

import type {
  AdminExamination,
  AuthorityFacts,
  CertificateFacts,
  DiskFacts,
  ProcessFacts,
} from '../protocol/admin/examination.ts'
import type { DatabaseFinding } from '../protocol/admin/database-finding.ts'
import type { AdminReplies } from '../protocol/admin/operations.ts'
import type { StandbyStatus } from '../protocol/standby.ts'

export interface Scene {
  readonly now: () => Date
  /** Of this svc. */
  readonly version: string
  settings(): Promise<SettingsFacts>
  secrets(): Promise<readonly FileFacts[]>
  vault(): Promise<VaultFacts>
  hub(): Promise<HubFacts>
  /** Undefined where systemd knows no such unit. */
  unit(): Promise<UnitFacts | undefined>
  machine(): Promise<MachineFacts>
  listeners(): Promise<readonly PortFacts[]>
  names(): Promise<readonly NameFacts[]>
  /** Undefined where nobody named one. */
  publicUrl(): Promise<PublicUrlFacts | undefined>
  /** Undefined where nobody named one. */
  checkpointDirectory(): Promise<DirectoryFacts | undefined>
  /** Undefined where nobody named one. */
  backups(): Promise<BackupDirectoryFacts | undefined>
  /** Undefined where nobody named one. */
  database(): Promise<DatabaseFacts | undefined>
  /** Undefined where the vault never had a standby, and nobody wants one. */
  standby(): Promise<StandbyFacts | undefined>
  disk(): Promise<DiskFacts>
  authority(): Promise<AuthorityFacts>
  certificates(): Promise<CertificateFacts>
  limits(): Promise<ProcessFacts>
}

export interface SettingsFacts {
  /** The administrator's file. */
  readonly path: string
  readonly faults: readonly SettingFault[]
  /** Variables with our prefix that no program reads, each with the nearest that one does. */
  readonly unknown: readonly { readonly name: string; readonly near: string | undefined }[]
  /** Why the passphrase is a weak one, as far as it may be read. */
  readonly passphraseFaults: readonly string[]
  /** Whether somebody named the hub. */
  readonly isNamed: boolean
  readonly serverNames: readonly string[]
  readonly renewalThresholdMs: number
  /** Undefined where the hub makes no backups by itself. */
  readonly backupIntervalMs: number | undefined
  /** Connections of one port; undefined where that is lifted. */
  readonly connectionsMax: number | undefined
}

export interface SettingFault {
  readonly message: string
  readonly variable: string | undefined
}

export interface FileFacts {
  readonly path: string
  /** The variable that names it; undefined for the settings themselves. */
  readonly variable: string | undefined
  readonly use: 'secret' | 'trust' | 'settings'
  /** Undefined when it is not there. */
  readonly mode: number | undefined
  readonly uid: number
  /** Who but root and its owner can put another file in its place. */
  readonly stranger: string | undefined
  /** Of the settings: secrets that stand in them. */
  readonly holds: readonly string[]
}

export interface VaultFacts {
  readonly root: string
  /** Undefined when there is no such directory. */
  readonly mode: number | undefined
  readonly uid: number
  /** The owner's name, or number. */
  readonly owner: string
  readonly stranger: string | undefined
  /** Undefined for who may not look into it. */
  readonly files: readonly VaultFileFacts[] | undefined
}

export interface VaultFileFacts {
  readonly name: string
  readonly mode: number
  readonly uid: number
}

export interface HubFacts {
  /** What svc asks: a socket or a URL. */
  readonly address: string
  /** Undefined when nothing answers there. */
  readonly status: AdminReplies['showStatus'] | undefined
  /** Undefined when the hub does not know the question, or nothing answers. */
  readonly examination: AdminExamination | undefined
  /** Why a hub that is there was not asked, or did not answer in time. */
  readonly failure: HubFailure | undefined
  /** Of a hub that answers no admin yet: what its `/readyz` lacks. */
  readonly waitsFor: readonly string[]
}

export interface HubFailure {
  readonly reason: string
  /** `denied`: this user may not ask it; `old`: it does not know the question. Then nothing is wrong with the hub. */
  readonly kind: 'denied' | 'old' | 'silent'
}

export interface StandbyFacts {
  /** What the vault that is here is; `hub` also before its first start with a standby. */
  readonly role: 'hub' | 'standby' | 'deposed'
  /** Undefined when no svc-server runs with it. */
  readonly status: StandbyStatus | undefined
}

export interface UnitFacts {
  readonly name: string
  readonly activeState: string
  readonly result: string
  readonly restarts: number
  readonly limits: ProcessFacts
}

export interface MachineFacts {
  readonly swaps: readonly SwapFacts[]
  readonly corePattern: string
}

export interface SwapFacts {
  readonly name: string
  readonly bytes: number
  /** Memory that is compressed, or a device that dm-crypt encrypts. */
  readonly isSafe: boolean
}

export interface PortFacts {
  readonly variable: string
  readonly address: string
  readonly port: number
  readonly isListening: boolean
}

export interface NameFacts {
  readonly name: string
  readonly variable: string
  /** Why this machine does not find it. */
  readonly fault: string | undefined
}

export interface DirectoryFacts {
  readonly path: string
  /** Why the vault's owner, or this user, cannot read and write it. */
  readonly failure: string | undefined
  /** On the same file system. */
  readonly isBesideVault: boolean
}

export interface BackupDirectoryFacts extends DirectoryFacts {
  /** When the newest whole backup of this vault was made. */
  readonly lastAt: Date | undefined
}

export interface DatabaseFacts {
  /** The server that was asked. */
  readonly name: string
  readonly findings: readonly DatabaseFinding[]
}

export interface PublicUrlFacts {
  readonly url: string
  /** Why nothing was shown, or why it is not trusted. */
  readonly failure: string | undefined
  readonly certificate: { readonly notBefore: Date; readonly notAfter: Date } | undefined
}

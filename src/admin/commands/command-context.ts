import type { Command } from 'commander'
import type { Scene } from '../../doctor/scene.ts'
import type { Clock } from '../../platform/clock.ts'
import type { VaultControls, WithAdmin } from '../doors/admin-session.ts'
import type { HubLine } from '../doors/hub-line.ts'
import type { HubAddress, HubOptions, RemoteHub } from '../doors/hub-options.ts'
import type { KeptLogins } from '../doors/kept-logins.ts'
import type { OpenedLink } from '../terminal/open-in-browser.ts'
import type { Output } from '../terminal/output.ts'
import type { Progress } from '../terminal/progress.ts'
import type { OpenPins } from '../sealed/open-pins.ts'
import type { OpenSecretSource } from '../sealed/secret-source.ts'

/** What a command may use; nothing is loaded or opened before it asks. */
export interface CommandContext {
  readonly output: Output
  readonly clock: Clock
  readonly progress: Progress
  /** A line on standard error, for people: what is neither the answer nor a failure of the command. */
  readonly note: (text: string) => void
  readonly vault: VaultControls
  /** Before anything is opened: which settings, and which hub, the command is for. */
  useOptions(
    options: HubOptions & { readonly config?: string },
    use: CommandUse,
  ): Promise<void> | void
  /** What a sign-in goes through. */
  openSignIn(): Promise<SignInDoor>
  /** What `svc doctor` looks at. */
  openScene(): Promise<Scene>
  /** Opens the operator's own files, with the operator's rights: before svc becomes the owner of the vault. */
  readonly openSecret: OpenSecretSource
  openPins(): Promise<OpenPins>
  /**
   * Where root has started svc beside a vault: what another svc, which becomes the vault's owner, prints for these arguments and
   * this standard input. This one goes on with root's rights, and may write where the owner may not.
   */
  readonly byOwner?: () => PrintedByOwner | undefined
  /** Asks a person; undefined where there is nobody to ask. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined
  /** What svc exits with when nothing fails; 0 otherwise. */
  readonly exitWith?: (status: number) => void
  /** What `svc console` serves: the way to a running hub, and this person's pins. */
  openConsoleDoor(): Promise<ConsoleDoor>
  /** Until somebody ends the program: Ctrl-C, SIGTERM. */
  untilEnded(): Promise<void>
  /** Aborted by the first Ctrl-C or SIGTERM, for what then ends by itself; the second one ends the program. Undefined where there are none. */
  readonly ending?: (() => AbortSignal) | undefined
  /** Runs `work` on the vault or on the hub that holds it, and closes it again. */
  readonly withAdmin: WithAdmin
}

/**
 * A command that examines the settings goes on with what it can have of them; one that signs in or out has nothing to ask a hub with
 * before.
 */
export type CommandUse = 'works' | 'examines' | 'signs_in'

export interface SignInDoor {
  /** Named by --hub or SVC_HUB. */
  readonly named: HubAddress | undefined
  /** Named by --token-file or SVC_HUB_TOKEN_FILE: it comes before every login. */
  readonly tokenFile: string | undefined
  readonly logins: KeptLogins
  /** What other commands would ask that hub with. */
  findRemote(hub: URL): Promise<RemoteHub>
  /** Whether a browser on this machine can show something to the person. */
  readonly hasBrowser: boolean
  openBrowser(url: string): Promise<OpenedLink>
  /** Asks a person on standard error; undefined when the input ends. */
  askLine(question: string, signal: AbortSignal): Promise<string | undefined>
  /** A line on standard error in which nothing is left out: an address that has to work. */
  show(line: string): void
}

export interface ConsoleDoor {
  readonly line: HubLine
  readonly openBrowser: (link: string) => Promise<OpenedLink>
  readonly openPins: () => Promise<OpenPins>
  readonly pinsPath: string
}

export type PrintedByOwner = (
  args: readonly string[],
  input?: Iterable<Uint8Array>,
) => AsyncIterable<Uint8Array>

export type RegisterCommand = (parent: Command, context: CommandContext) => void

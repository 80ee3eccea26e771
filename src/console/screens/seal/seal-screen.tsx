// Sealing a file: only on the page that svc serves on this machine. The hub's own page says so, and how else.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { findLocalConsole, type LocalConsole } from '../../api/local-console.ts'
import { here, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Failure, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { words } from '../../words/words.ts'
import { SealForm } from './seal-form.tsx'

type Served =
  | { readonly state: 'asked' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'by'; readonly local: LocalConsole | undefined }

export function SealScreen(): JSX.Element {
  const { seal } = words()
  const carga = here.value.query['carga']
  const [served, setServed] = useState<Served>({ state: 'asked' })
  useEffect(() => {
    findLocalConsole().then(
      (local) => setServed({ state: 'by', local }),
      (error: unknown) => setServed({ state: 'failed', error: error as Error }),
    )
  }, [])
  const command = sealCommand(carga)
  return (
    <Screen
      title={seal.title}
      wire="carga"
      above={[seal.above, hrefOf('/cargo')]}
      commands={[command]}
    >
      {served.state === 'failed' && <Failure error={served.error} />}
      {served.state === 'by' && served.local === undefined && <SealOff command={command} />}
      {served.state === 'by' && served.local !== undefined && (
        <IfAllowed name="createCargo">
          <p class="muted">{seal.intro(served.local.hub)}</p>
          <SealForm carga={carga} />
        </IfAllowed>
      )}
    </Screen>
  )
}

function SealOff({ command }: { readonly command: string }): JSX.Element {
  const { seal } = words()
  return (
    <section class="card">
      <Notice title={seal.off} hint={seal.offHint}>
        <div class="commands">
          <Command text={command} />
          <Command text={`svc --hub ${location.origin} --token-file ~/.svc-token console`} />
        </div>
      </Notice>
    </section>
  )
}

function sealCommand(carga: string | undefined): string {
  return carga === undefined
    ? 'svc load create --type sealed --name db-password --file db-password --agent web-1.example.org'
    : `svc load update ${/^[\w-]+$/.test(carga) ? carga : 'ID'} --file db-password`
}

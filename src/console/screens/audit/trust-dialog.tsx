// Code that the hub served cannot convict the hub: what checks the log from elsewhere, as commands that work when pasted.

import type { JSX } from 'preact'
import { svc } from '../../commands/svc.ts'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { words } from '../../words/words.ts'

export function TrustDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { audit, frame } = words()
  return (
    <Dialog title={audit.trustTitle} onClose={onClose} isWide>
      <div class="body trust">
        <p>{audit.trustWhy}</p>
        <p class="muted">{audit.trustConsole}</p>
        {svc.keepCheckpoint.map((command) => (
          <Command key={command} text={command} />
        ))}
        <p class="muted">{audit.trustVerify}</p>
        <Command text={svc.verifyByCheckpoint} />
        <p class="muted">{audit.trustExport}</p>
        {svc.verifyExport.map((command) => (
          <Command key={command} text={command} />
        ))}
        <p class="muted">{audit.trustEvidence}</p>
        <Command text={svc.packEvidence} />
      </div>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {frame.close}
        </button>
      </div>
    </Dialog>
  )
}

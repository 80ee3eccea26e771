// Copies a text, and says that it did.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { words } from '../words/words.ts'
import { Icon } from './icon.tsx'
import { announce } from './live-region.tsx'

const SHOWN_MS = 1500

export function CopyButton({
  text,
  label,
}: {
  readonly text: string
  readonly label?: string
}): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  const { frame } = words()
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    announce(frame.copied)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <button type="button" class="copy" aria-label={label ?? frame.copy} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} small />
    </button>
  )
}

// The permissions of a file that the hub has put on a host, as octal text: `0644`.

export const FILE_MODE_DEFAULT = 0o644

/** Its owner can read it, not everybody can write it, and it is nothing special: no setuid, no sticky bit. */
export function parseFileMode(text: string): number | undefined {
  if (!/^0?[0-7]{3}$/.test(text)) return undefined
  const mode = Number.parseInt(text, 8)
  return (mode & 0o400) === 0 || (mode & 0o002) !== 0 ? undefined : mode
}

export function formatFileMode(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

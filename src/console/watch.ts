// Only in a build for those who work on the console: the page loads itself again when there is a newer one.

const LOOK_MS = 100

export function reloadOnBuild(): void {
  let shown: string | null = null
  setInterval(() => {
    void fetch('/console/', { method: 'HEAD', cache: 'no-store' })
      .then(({ headers }) => {
        const newest = headers.get('etag')
        if (shown !== null && newest !== null && newest !== shown) location.reload()
        shown ??= newest
      })
      // The hub starts again.
      .catch(() => undefined)
  }, LOOK_MS)
}

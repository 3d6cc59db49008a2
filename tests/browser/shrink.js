// A picture (a data URL) in a given width: a WebP in base64.
async ([picture, width]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const height = Math.round((image.height * width) / image.width);
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, width, height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.7 })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}

"""What looks after the published course: links, addresses of data, versions elsewhere."""

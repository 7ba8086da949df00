"""Files: what people hand in, what is kept until its job is done, and the backup of all.

files    read the files that people hand in, within bounds
uploads  keep files that people upload until the job that reads them is done
backup   database and page store as one file, and back
times    times as rows carry them
"""
